"""Write loadcheck's systems.toml: what the systems of each platform tag have, by public sources, with dates.

    python -m generate.systems              # newest auditwheel and delvewheel
    python -m generate.systems --check      # the versions that the file names; says whether it is what they give

auditwheel's policies have the libraries, the symbol versions and the forbidden symbols of each manylinux and musllinux.
delvewheel lists the libraries of every Windows for x86, x64 and arm64.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import textwrap
import zipfile
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from accuracy import downloads
from generate.libc_symbols import FOLDER
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from loadcheck.binary.floors import is_glibc, numeric, version_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

TABLE = FOLDER / "systems.toml"
SOURCES = ("auditwheel", "delvewheel")
_HEAD = "# Written by generate/systems.py on {date} from {sources}; do not edit.\n"
_NAMED = re.compile(r"(\w+) ([\d.]+)")
_JUDGED_BY_GLIBC = "GLIBC"
"""The family of versions that the floor in the tag itself limits."""
_WINDOWS = ("ignore_names_x86", "ignore_names_x64", "ignore_names_arm64")


def main(arguments: Sequence[str]) -> int:
    """Write the table, or compare it with its sources."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare; write nothing")
    check = parser.parse_args(arguments).check
    first, _, body = TABLE.read_text("utf-8").partition("\n") if TABLE.exists() else ("", "", "")
    versions = dict(_NAMED.findall(first)) if check else {}
    wheels = {name: fetch(name, versions.get(name, "")) for name in SOURCES}
    text = table(wheels)
    sources = [f"{name} {wheel.name.split('-')[1]}" for name, wheel in wheels.items()]
    if check:
        print("is what its sources give" if text == body else f"{TABLE.name} differs: run python -m generate.systems")
        return text != body
    date = datetime.now(timezone.utc).date().isoformat()
    TABLE.write_text(_HEAD.format(date=date, sources=", ".join(sources)) + text)
    return 0


def fetch(name: str, number: str) -> Path:
    """A wheel from the package index: the newest one for no number. Raises InputError."""
    wheels = {file.version: file for file in downloads.list_files(name) if file.is_wheel and not file.is_yanked}
    fitting = SpecifierSet(f"=={number}" if number else "").filter(wheels)
    return downloads.download(wheels[max(fitting, key=Version)])


def table(wheels: Mapping[str, Path]) -> str:
    """The text of the table without its first line."""
    policies = {kind: policy(wheels["auditwheel"], kind) for kind in ("manylinux", "musllinux")}
    linux = {name for entry in policies["manylinux"] for name in entry["lib_whitelist"] if not is_glibc(name)}
    musl = {name for entry in policies["musllinux"] for name in entry["lib_whitelist"]}
    x86, x64, arm64 = windows(wheels["delvewheel"])
    aliases = sorted((alias, entry["name"]) for entry in policies["manylinux"] for alias in entry["aliases"])
    return "\n".join([
        *("# Allowed by manylinux in addition to those of glibc, which binary/floors.py lists.",
          *render_list("system_libraries", linux)),
        *("# Allowed by musllinux.", *render_list("musl_libraries", musl)),
        *("# On every Windows, and in addition on every Windows for x86 and x64.",
          *render_list("windows_libraries", x86 & x64 & arm64),
          *render_list("windows_intel_libraries", x86 & x64 - arm64)),
        *("\n[aliases]", "# Older names of manylinux tags.", *(f'{old} = "{new}"' for old, new in aliases)),
        *("\n[symbol_versions]", "# The newest version of each family that a floor guarantees; of others, none.",
          *limits(policies["manylinux"])),
        *("\n[forbidden_symbols]", "# Symbols of allowed libraries that some systems of a floor lack.",
          *(row for entries in policies.values() for row in forbidden(entries))),
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


def limits(policies: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The rows of floors that raise the versions of x86_64, and of architectures that have others at some floor."""
    last = ""
    for entry in policies:
        by_arch = {arch: newest(versions) for arch, versions in entry["symbol_versions"].items()}
        name, base = version_text(floor(entry["name"])), by_arch.pop("x86_64")
        if base != last:
            yield f'"{name}" = {base}'
        last = base
        yield from (f'"{name} {arch}" = {limit}' for arch, limit in sorted(by_arch.items()) if limit and limit != base)


def newest(versions: Mapping[str, Sequence[str]]) -> str:
    """The highest numbered version of each family as an inline table; "" where an architecture has none."""
    best = {name: max(map(numeric, texts), default=()) for name, texts in sorted(versions.items())}
    rows = [f'{name} = "{version_text(best[name])}"' for name in best if best[name] and name != _JUDGED_BY_GLIBC]
    return f"{{ {', '.join(rows)} }}" if rows else ""


def forbidden(policies: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The rows of floors at which the list of a library changes: `"manylinux 2.17 libz.so.1" = [...]`."""
    for library in sorted({name for entry in policies for name in entry["blacklist"]}):
        last: list[str] = []
        for entry in policies:
            names = sorted(entry["blacklist"].get(library, ()))
            if names != last:
                kind = entry["name"].partition("_")[0]
                yield from render_list(f'"{kind} {version_text(floor(entry["name"]))} {library}"', names)
            last = names


def windows(wheel: Path) -> list[set[str]]:
    """The libraries that delvewheel has seen in every Windows for a processor: x86, x64, arm64."""
    with zipfile.ZipFile(wheel) as archive:
        tree = ast.parse(archive.read("delvewheel/_dll_list.py"))
    assigned = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    return [{name.lower() for name in ast.literal_eval(assigned[name])} for name in _WINDOWS]


def render_list(name: str, items: Collection[str]) -> Iterator[str]:
    """A TOML list in lines of at most 120 characters."""
    if not items:
        yield f"{name} = []"
        return
    yield f"{name} = ["
    yield textwrap.fill(
        ", ".join(f'"{item}"' for item in sorted(items)) + ",", 120, initial_indent="  ", subsequent_indent="  "
    )
    yield "]"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
