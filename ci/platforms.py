"""Write loadcheck's systems.toml: what the systems of each platform tag have, by public sources, with dates.

    python -m ci.platforms              # newest auditwheel and delvewheel
    python -m ci.platforms --check      # the versions that the file names; says whether it is what they give

auditwheel's policies have the libraries and symbol versions of each manylinux and musllinux. A Windows library counts
if both delvewheel ignores it and mingw-w64, which is in ziglang, has an import library of it.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import textwrap
import zipfile
from datetime import datetime, timezone
from importlib.metadata import distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadcheck.binary.floors import is_glibc, numeric, version_text
from machines import pinned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

TABLE = Path(__file__).parents[1] / "loadcheck" / "src" / "loadcheck" / "engine" / "systems.toml"
SOURCES = ("auditwheel", "delvewheel")
_HEAD = "# Written by ci/platforms.py on {date} from {sources}; do not edit.\n"
_NAMED = re.compile(r"(\w+) ([\d.]+)")
_CXX = ("GLIBCXX", "CXXABI")


def main(arguments: Sequence[str]) -> int:
    """Write the table, or compare it with its sources."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare; write nothing")
    check = parser.parse_args(arguments).check
    first, _, body = TABLE.read_text("utf-8").partition("\n") if TABLE.exists() else ("", "", "")
    versions = dict(_NAMED.findall(first)) if check else {}
    with tempfile.TemporaryDirectory() as folder:
        wheels = {name: fetch(name, versions.get(name, ""), Path(folder)) for name in SOURCES}
        text = table(wheels)
        sources = [f"{name} {wheel.name.split('-')[1]}" for name, wheel in wheels.items()]
    if check:
        print("is what its sources give" if text == body else f"{TABLE.name} differs: run python -m ci.platforms")
        return text != body
    date = datetime.now(timezone.utc).date().isoformat()
    TABLE.write_text(_HEAD.format(date=date, sources=", ".join([*sources, f"ziglang {version('ziglang')}"])) + text)
    return 0


def fetch(name: str, number: str, folder: Path) -> Path:
    """A wheel from the package index: the newest one for no number."""
    requirement = f"{name}=={number}" if number else name
    subprocess.run([*pinned.pip(), "download", "--quiet", "--no-deps", f"--dest={folder}", requirement], check=True)
    (wheel,) = folder.glob(f"{name}-*.whl")
    return wheel


def table(wheels: Mapping[str, Path]) -> str:
    """The text of the table without its first line."""
    policies = {kind: policy(wheels["auditwheel"], kind) for kind in ("manylinux", "musllinux")}
    linux = {name for entry in policies["manylinux"] for name in entry["lib_whitelist"] if not is_glibc(name)}
    musl = {name for entry in policies["musllinux"] for name in entry["lib_whitelist"]} - linux
    aliases = sorted((alias, entry["name"]) for entry in policies["manylinux"] for alias in entry["aliases"])
    return "\n".join([
        *("# Allowed by manylinux in addition to those of glibc, which binary/floors.py lists.",
          *render_list("system_libraries", linux), *render_list("musl_libraries", musl)),
        *("# On every Windows 10 and 11.", *render_list("windows_libraries", windows(wheels["delvewheel"]))),
        *("\n[aliases]", "# Older names of manylinux tags.", *(f'{old} = "{new}"' for old, new in aliases)),
        *("\n[cxx]", "# The newest versions of the C++ run-time library that a floor guarantees.",
          *cxx(policies["manylinux"])),
        "",
    ])  # fmt: skip


def policy(wheel: Path, kind: str) -> list[dict[str, Any]]:
    """The policies of a kind, the oldest system first."""
    with zipfile.ZipFile(wheel) as archive:
        policies = json.loads(archive.read(f"auditwheel/policy/{kind}-policy.json"))
    return sorted(
        (entry for entry in policies if entry["name"].startswith(kind)), key=lambda entry: floor(entry["name"])
    )


def floor(name: str) -> tuple[int, ...]:
    """The version of a policy: (2, 28) of `manylinux_2_28`."""
    return tuple(int(part) for part in name.split("_")[1:])


def cxx(policies: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The rows of floors that raise the versions of x86_64, and of architectures that have others at some floor."""
    last = ""
    for entry in policies:
        limits = {arch: newest(versions) for arch, versions in entry["symbol_versions"].items()}
        name, base = version_text(floor(entry["name"])), limits.pop("x86_64")
        if base != last:
            yield f'"{name}" = {base}'
        last = base
        yield from (f'"{name} {arch}" = {limit}' for arch, limit in sorted(limits.items()) if limit and limit != base)


def newest(versions: Mapping[str, Sequence[str]]) -> str:
    """The highest numbered versions as an inline table; "" where an architecture has none."""
    best = {name: max((numeric(text) for text in versions.get(name, ())), default=()) for name in _CXX}
    if not all(best.values()):
        return ""
    return "{ " + ", ".join(f'{name} = "{version_text(best[name])}"' for name in _CXX) + " }"


def windows(wheel: Path) -> set[str]:
    """The libraries that delvewheel ignores on x64 and that mingw-w64 has."""
    with zipfile.ZipFile(wheel) as archive:
        tree = ast.parse(archive.read("delvewheel/_dll_list.py"))
    (ignored,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ignore_names_x64"
    )
    folder = Path(str(distribution("ziglang").locate_file("ziglang/lib/libc/mingw")))
    definitions = (path for part in ("lib-common", "lib32", "lib64") for path in (folder / part).glob("*.def*"))
    names = {path.name.lower().partition(".def")[0] for path in definitions}
    return {name.lower() for name in ignored if not {name.lower(), name.lower().removesuffix(".dll")}.isdisjoint(names)}


def render_list(name: str, items: Iterable[str]) -> Iterator[str]:
    """A TOML list in lines of at most 120 characters."""
    yield f"{name} = ["
    yield textwrap.fill(
        ", ".join(f'"{item}"' for item in sorted(items)) + ",", 120, initial_indent="  ", subsequent_indent="  "
    )
    yield "]"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
