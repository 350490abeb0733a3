"""Finds the functions that a stub is to serve: in lists of names, shared libraries, .def files and headers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latebind.backend.run import tail
from latebind.backend.zig import ZIG_REQUIREMENT, find_zig
from latebind.config.described import NUMBERS
from latebind.errors import InputError, LatebindError, NotRun
from latebind.system.run import run
from latebind.tables.presets import FunctionTable
from latebind.text import DOCS, plural
from loadcheck.facts import read_image

if TYPE_CHECKING:
    from loadcheck.facts import Image

_NAME = re.compile(r"^[A-Za-z_]\w*$")
_HEADERS = frozenset({".h", ".hh", ".hpp", ".hxx"})
_LINKERS = frozenset({"_init", "_fini", "_edata", "_end", "__bss_start", "DllMain", "_DllMainCRTStartup"})
"""What linkers put into every library."""
_CLASSES = ("_ZTV", "_ZTI", "_ZTS", "_ZTT", "_ZTC", "_ZGV", "_ZGR")
_USE_VARIABLE = (
    "include the header of variables that latebind writes in each file that uses one, unless the library's header has "
    "it as a macro; it doesn't serve that header's inline functions and static initializers: "
    f"{DOCS}/howto/stub.md#what-cannot-be-bound-late"
)
_VARIABLE = ("variable", _USE_VARIABLE)
_CLASS = ("class symbol", "C++ code cannot derive from these classes, catch them, or call their inline constructors")
_INLINE = ("inline function", "C++ code has its own copies; name instances of templates to add them")
_VISUAL = ("Visual C++ symbol", "their names are none in C")
_TIME_LIMIT = 120.0
_SHOWN = 12


@dataclass(slots=True)
class Declared:
    """The names in a library or header: those that a stub can serve, and the others."""

    functions: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    inline: set[str] = field(default_factory=set)
    """Inline functions and instances of templates, which each library that uses them contains."""
    classes: set[str] = field(default_factory=set)
    """Virtual tables and type information of C++."""
    visual_cpp: set[str] = field(default_factory=set)
    """All of C++ in Microsoft's ABI, whose names are none in C."""
    types: dict[str, str] = field(default_factory=dict)
    """The types of functions that headers declare."""
    exported: set[str] = field(default_factory=set)
    """All that shared libraries among the files export."""

    def add(self, name: str, *, is_function: bool, is_weak: bool = False) -> None:
        """Sort a name in."""
        if name.startswith("?"):
            self.visual_cpp.add(name)
        elif name.startswith(_CLASSES):
            self.classes.add(name)
        elif name.startswith("_Z") and is_function and is_weak:
            self.inline.add(name)
        elif _NAME.match(name) and name not in _LINKERS:
            (self.functions if is_function else self.variables).add(name)


def list_called(files: Iterable[Path]) -> frozenset[str]:
    """The functions and variables that programs and libraries take from others.

    A program exports the variables that it takes: the linker gives it copies. Functions that one exports are its own.

    Raises InputError for a file that cannot be read, or is none.
    """
    images = [_read_image(path, "a program or library") for path in files]
    return frozenset(
        {symbol.name for image in images for symbol in image.imports}
        | {symbol.name for image in images for symbol in image.exports if symbol.kind != "func"}
    )


def find_functions(
    sources: Sequence[str], folder: Path, entry: str = "", version: str = "", called: frozenset[str] | None = None
) -> tuple[FunctionTable, list[str]]:
    """The functions that `sources` name, and notes about what cannot be in a stub; only of what is `called`, if given.

    A source is a function, a file below `folder` that holds functions, or a pattern (`thing_*`) for those of the files;
    `!thing_*` leaves functions out.
    `entry` is the function or variable that reports the version, in the form `version`.

    Raises InputError for a file that cannot be read, LatebindError when nothing is left, a name is that of a variable,
    a header declares another type of `entry` or a library doesn't export it, NotRun for a header without zig.
    """
    left_out = [source[1:] for source in sources if source.startswith("!")]
    patterns = [source for source in sources if "*" in source and not source.startswith("!")]
    names = {source for source in sources if _NAME.match(source)}
    declared = Declared()
    for source in sources:
        if source not in patterns and source not in names and not source.startswith("!"):
            _read(folder / source, declared)
    _check_type(declared.types.get(entry, ""), entry, version)
    _check_exported(declared, entry, sources)
    if wrong := sorted(names & declared.variables):
        text = f"{show_names(wrong, _SHOWN)}: a variable, which a stub cannot have as a function"
        advice = "Remove it from the functions: latebind writes a header for variables."
        raise LatebindError(text, advice=advice)
    chosen = {name for name in declared.functions if _fits(name, patterns)} | names
    chosen = {name for name in chosen if not any(fnmatchcase(name, pattern) for pattern in left_out)}
    if called is not None:
        chosen &= called
        for others in (declared.variables, declared.classes, declared.inline, declared.visual_cpp):
            others.intersection_update(called)
    if not chosen and called is not None:
        advice = "Name a program or library that is linked with the library, or leave --called-by out."
        raise LatebindError(f"what --called-by names takes no function of {', '.join(sources)}", advice=advice)
    if not chosen:
        text = f"no function of {', '.join(sources)} can be in a stub"
        raise LatebindError(text, advice="Name functions, a shared library, a .def file or a header.")
    variables = tuple(name for name in sorted(declared.variables) if _fits(name, patterns))
    apart = [] if patterns else [(declared.classes, _CLASS), (declared.inline, _INLINE), (declared.visual_cpp, _VISUAL)]
    notes = [_note(sorted(names), *kind) for names, kind in ((set(variables), _VARIABLE), *apart) if names]
    return FunctionTable(functions={"0.0": tuple(sorted(chosen))}, variables=variables), notes


def _check_exported(declared: Declared, entry: str, sources: Sequence[str]) -> None:
    """Raises LatebindError if there are libraries, and none exports the entry."""
    if entry and declared.exported and entry not in declared.exported:
        text = f"{entry} is exported by no library in {', '.join(sources)}, so it cannot tell that library from others"
        advice = "Name a function of the library's own: nm -D --defined-only FILE lists them."
        raise LatebindError(text, where="entry", advice=advice)


def _check_type(type_: str, entry: str, version: str) -> None:
    """Raises LatebindError if a header declares another type than the form of the version needs."""
    returned, is_function, arguments = type_.partition("(")
    pointers = sum("*" in argument for argument in arguments.split(","))
    if version in ("", "own", "none"):
        is_right = True
    elif version == "variable" or not is_function:
        is_right = version == "variable" and re.fullmatch(r"(const )?char \*( ?const)?", type_) is not None
    elif version == "text":
        is_right = re.search(r"\bchar\b.*\*", returned) is not None and not pointers
    elif version == "structure":
        is_right = "*" in returned and not pointers
    elif version == "integer":
        is_right = not {"*", "void"} & {*returned, *returned.split()} and not pointers
    else:
        is_right = pointers == {"integer-out": 1, **NUMBERS}[version]
    if type_ and not is_right:
        text = f'{entry} has the type {type_}, which does not fit version = "{version}"'
        raise LatebindError(text, advice="Name what reports the version, or another form of version.")


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _note(names: Sequence[str], noun: str, advice: str) -> str:
    return f"not in the stub: {plural(len(names), noun)} ({show_names(names, _SHOWN)}); {advice}"


def show_names(names: Sequence[str], most: int) -> str:
    """The first names, with dots for the rest."""
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _read(path: Path, declared: Declared) -> None:
    if path.suffix.lower() == ".def":
        _read_def(_read_bytes(path), declared)
    elif path.suffix.lower() in _HEADERS:
        _read_bytes(path)
        _read_header(path, declared)
    else:
        for export in _read_image(path, "a shared library, a .def file or a header").exports:
            declared.exported.add(export.name)
            declared.add(export.name, is_function=export.kind == "func", is_weak=export.is_weak)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        text = f"cannot be read: {error.strerror}"
        advice = "Name a function, a shared library, a .def file or a header."
        raise InputError(text, where=str(path), advice=advice) from error


def _read_image(path: Path, wanted: str) -> Image:
    image = read_image(_read_bytes(path), path.name)
    if image is None:
        advice = "If it is a script of libtool, name the program in the folder .libs beside it."
        raise InputError(f"is not {wanted}", where=str(path), advice=advice)
    return image


def _read_def(data: bytes, declared: Declared) -> None:
    """EXPORTS of a module definition: `name [=other] [@number] [NONAME] [DATA] [PRIVATE]`, one in a line."""
    lines = [line.partition(";")[0].split() for line in data.decode("utf-8", "replace").splitlines()]
    start = next((number for number, tokens in enumerate(lines) if tokens[:1] == ["EXPORTS"]), len(lines))
    same_line = lines[start][1:] if start < len(lines) else []
    for tokens in [
        same_line,
        *takewhile(lambda tokens: tokens[:1] not in (["LIBRARY"], ["SECTIONS"]), lines[start + 1 :]),
    ]:
        if tokens:
            declared.add(tokens[0].partition("=")[0], is_function="DATA" not in tokens)


def _read_header(path: Path, declared: Declared) -> None:
    """What a header declares, and what the headers that it includes from its folder declare."""
    parent = path.resolve().parent
    for declaration, file in _locate_declarations(parse_header(path, (parent, *list(parent.parents)[:2]))):
        is_function = declaration.get("kind") == "FunctionDecl"
        is_outside = (
            declaration.get("storageClass") == "static" or declaration.get("inline") or declaration.get("isImplicit")
        )
        declares = is_function or (declaration.get("kind") == "VarDecl" and declaration.get("storageClass") == "extern")
        if declares and not is_outside and Path(file).resolve().is_relative_to(parent):
            declared.add(declaration["name"], is_function=is_function)
            declared.types[declaration["name"]] = declaration.get("type", {}).get("qualType", "")


def parse_header(path: Path, folders: Iterable[Path]) -> list[dict[str, Any]]:
    """The declarations of a C header, and of what it includes, as clang lists them; `folders` hold more headers.

    Raises InputError for a header that does not compile, NotRun without zig.
    """
    zig = find_zig()
    if zig is None:
        raise NotRun(
            "no-compiler", "zig, which reads headers, is not installed", advice=f'pip install "{ZIG_REQUIREMENT}"'
        )
    includes: list[str] = []
    for name in (
        "include",
        *(f"libc/include/{name}" for name in ("x86_64-linux-musl", "generic-musl", "any-linux-any")),
    ):
        includes += ["-isystem", f"{_zig_folder(zig)}/{name}"]
    for folder in folders:  # behind C's own: git2/ has a stdint.h, and /usr/include is another C library's
        includes += ["-idirafter", str(folder)]
    # `zig clang`, not `zig cc`, which wants an object file.
    arguments = ["-w", "-fsyntax-only", "-x", "c", "-target", "x86_64-linux-musl", *includes]
    ended = run([zig, "clang", *arguments, "-Xclang", "-ast-dump=json", path], timeout=_TIME_LIMIT, check=False)
    start = ended.output.find("{\n")
    if ended.returncode != 0 or start < 0:
        errors = ended.output if start < 0 else ended.output[:start]
        text = f"does not compile as C\n{tail(errors)}"
        raise InputError(
            text, where=str(path), advice="Name a header of the C interface that can be included on its own."
        )
    tree, _ = json.JSONDecoder().raw_decode(ended.output[start:])
    return list(tree.get("inner", []))


def _zig_folder(zig: Path) -> str:
    """The folder of zig's own headers."""
    match = re.search(r"""\.?lib_dir"?\s*[=:]\s*"([^"]+)\"""", run([zig, "env"]).output)
    return match[1] if match else str(zig.parent / "lib")


def _locate_declarations(declarations: Iterable[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each declaration with its file: clang names a file only where it differs from that of the place before."""
    file = ""
    for declaration in declarations:
        declaring_file = ""
        for location in _places(declaration):
            file = location.get("file", file)
            declaring_file = declaring_file or file
        yield declaration, declaring_file


def _places(node: object) -> Iterator[dict[str, Any]]:
    """All places in the source below a node, in the order in which they were written."""
    if isinstance(node, list):
        for part in node:
            yield from _places(part)
    elif isinstance(node, dict):
        if "offset" in node:
            yield node
        for part in node.values():
            yield from _places(part)
