r"""Lists the functions that have one interface in several versions of a C library, for a description with variants.

    python -m ci.gen.cuda_functions 'cuda*' cu13/lib/libcudart.so.13,cu13/include/cuda_runtime_api.h,crt13/include \
                                        cuda_runtime/lib/libcudart.so.12,cuda_runtime/include/...

A binary is compiled with the headers of one version. Where a function's type, or a structure that it uses, is different
in another version, the binary must not call it there, although both libraries export the name. A name that the headers
of a version hide behind a macro (cudaGetDeviceProperties in CUDA 12 is cudaGetDeviceProperties_v2) is such a function,
too.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latebind.native.functions import parse_header
from loadcheck.facts import read_image

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(r"[A-Za-z_]\w*")
_NO_NAME = re.compile(r"\(?(struct|union|enum)? ?\(?(unnamed|anonymous)[^()]*\)?")


class Header:
    """What a library exports, and what its header declares: functions, and the types in their declarations."""

    def __init__(self, argument: str) -> None:
        """Read the library and its header; folders for -I follow, after commas."""
        library, path, *folders = argument.split(",")
        image = read_image(Path(library).read_bytes(), library)
        self.exports = {export.name for export in image.exports} if image else set()
        self.functions: dict[str, str] = {}
        self.types: dict[str, str] = {}
        for node in parse_header(Path(path), [Path(path).parent, *map(Path, folders)]):
            self._add(node)

    def _add(self, node: dict[str, Any]) -> None:
        name = node.get("name", "")
        kind, type_ = node.get("kind"), node.get("type", {}).get("qualType", "")
        if kind == "FunctionDecl" and node.get("storageClass") != "static":
            self.functions[name] = type_
        elif kind == "TypedefDecl":
            self.types[name] = _type(node)
        elif kind == "RecordDecl" and node.get("completeDefinition"):
            self.types[name or node["id"]] = f"{node['tagUsed']} {{{'; '.join(_fields(node))}}}"

    def interface(self, function: str) -> dict[str, str]:
        """The types that a function's declaration leads to, by name."""
        found, open_ = {"": self.functions[function]}, [self.functions[function]]
        while open_:
            for word in _WORD.findall(open_.pop()):
                if word in self.types and word not in found:
                    found[word] = self.types[word]
                    open_.append(self.types[word])
        return found


def _type(node: dict[str, Any]) -> str:
    type_ = node.get("type", {})
    return _NO_NAME.sub("", type_.get("desugaredQualType", type_.get("qualType", "")))


def _fields(record: dict[str, Any]) -> Iterator[str]:
    """The types of the fields, in their order, with those of inner structures; names do not matter."""
    for node in record.get("inner", ()):
        if node.get("kind") == "RecordDecl":
            yield f"{node['tagUsed']} {{{'; '.join(_fields(node))}}}"
        elif node.get("kind") == "FieldDecl":
            yield _type(node)


def main() -> None:
    """Print the functions that are the same in all versions that have them, and those that are not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern")
    parser.add_argument("header", nargs="+", help="LIBRARY,HEADER and folders for its includes")
    arguments = parser.parse_args()
    headers = [Header(header) for header in arguments.header]
    names = sorted({name for header in headers for name in header.functions if fnmatchcase(name, arguments.pattern)})
    same, other = list[str](), list[str]()
    for name in names:
        interfaces = [header.interface(name) for header in headers if name in header.functions]
        is_hidden = any(name in header.exports and name not in header.functions for header in headers)
        is_same = all(interface == interfaces[0] for interface in interfaces) and not is_hidden
        (same if is_same else other).append(name)
    for title, listed in (("the same", same), ("different", other)):
        print(f"# {title}: {len(listed)}")
        print(textwrap.fill(", ".join(f'"{name}"' for name in listed), width=116, break_on_hyphens=False))


if __name__ == "__main__":
    main()
