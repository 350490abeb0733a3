"""Words for findings and reports: the terms of each binary format, counts and lists."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from loadcheck.binary.floors import version_text
from loadcheck.engine.cause import causes, package_of
from loadcheck.model import PASSED_OVER, SEVERITIES
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from loadcheck.binary import Format, Image
    from loadcheck.binary.floors import Version
    from loadcheck.engine.cause import Cause
    from loadcheck.model import AuditReport, Finding

_SHOWN = 12
_IN_HEADLINE = 3
_FITS = 64
"""How many characters of names a headline shows, unless the first name is longer: no name is cut."""
_MACHO_LINKS: Mapping[str, str] = {
    "normal": "LC_LOAD_DYLIB",
    "weak": "LC_LOAD_WEAK_DYLIB",
    "reexport": "LC_REEXPORT_DYLIB",
    "upward": "LC_LOAD_UPWARD_DYLIB",
    "delay": "LC_LAZY_LOAD_DYLIB",
}
_MANGLED = re.compile(r"_Z(?:T[VIST])?(?P<nested>N[KVrRO]*)?(?P<std>St)?(?=\d)")
"""How a C++ name of the Itanium ABI begins: a function, or a table of a class."""
_OWN_NAMES: Mapping[Format, str] = {"elf": "SONAME", "macho": "install name", "pe": "export table of"}
SYSTEMS: Mapping[Format, str] = {"elf": "Linux", "macho": "macOS", "pe": "Windows"}
_PROCESSORS: Mapping[str, str] = {"x86_64": "x64", "aarch64": "arm64", "i686": "x86", "ppc": "PowerPC"}


def count_line(report: AuditReport, *, notes_hidden: bool = False) -> str:
    """`a.whl: 1 error, 0 warnings, 5 notes not shown (-v), 12 in the baseline; 37 of 61 checks (--profile loads)`."""
    counts: Counter[str] = Counter(finding.severity for finding in report.findings)
    parts = [plural(counts[name], name) for name in SEVERITIES]
    for number, name in enumerate(SEVERITIES[:2]):
        few = len(causes(finding for finding in report.findings if finding.severity == name))
        parts[number] += f" with {plural(few, 'cause')}" if few < counts[name] else ""
    if notes_hidden and counts["note"]:
        parts[-1] += " not shown (-v)"
    for count, what in ((len(report.waived), "waived"), (len(report.known), "in the baseline")):
        parts += [f"{count} {what}"] if count else []
    if skipped := len({skip.check for skip in report.skipped if skip.check != PASSED_OVER and not skip.unread}):
        parts.append(f"{plural(skipped, 'check')} skipped for some files")
    if report.undecided:
        count = len({(skip.subject, skip.library) for skip in report.undecided})
        parts.append(f"{count} undecided{_name_decider(report)}")
    what = report.packages[0] if len(report.packages) == 1 else plural(report.subjects, "package")
    options, _, ran = report.choice.partition(": ")
    chosen = f"; {ran} ({options})" if ran else "" if options == "--profile all" else f"; {options}"
    return f"{what}: {', '.join(parts)}{chosen}"


def unread_line(report: AuditReport) -> Iterator[str]:
    """`3 libraries may come from torch, which was not read (--resolve)`; none if all that matters was read."""
    rows = report.undecided
    if rows:
        names = list(dict.fromkeys(name for row in rows for name in row.unread))
        count = len({row.library for row in rows})
        libraries = rows[0].library if count == 1 else f"{count} libraries"
        was = "were" if names[1:] else "was"
        yield f"{libraries} may come from {list_names(names)}, which {was} not read{_name_decider(report)}"


def _name_decider(report: AuditReport) -> str:
    """The option that decides what is undecided, or shows why it cannot be decided."""
    can_read = any(suffix in row.subject for row in report.undecided for suffix in (".whl", ".tgz"))
    return " (-v)" if report.is_resolved else " (--resolve)" if can_read else ""


def assumption_line(finding: Finding) -> Iterator[str]:
    """The line of a report that names what a finding assumes; none if it assumes nothing."""
    if finding.assumption:
        yield f"assumes: {finding.assumption}"


def details(finding: Finding) -> Iterator[str]:
    """What the check saw and assumes, and the fix, a line each."""
    yield from (f"saw: {text}" for text in finding.evidence)
    yield from assumption_line(finding)
    yield f"fix: {finding.fix}"


def place(subject: str, report: AuditReport) -> str:
    """Where in its package a finding is; "" for the package itself."""
    return subject[len(package_of(subject, report.packages)) :].lstrip("!/")


def others(cause: Cause, report: AuditReport) -> str:
    """` and 37 other files`, ` and 1 other file in 2 packages`; "" for a cause with one place."""
    count = len(cause.subjects) - 1
    same = len({finding.message for finding in cause.findings}) == 1
    packages = {package_of(subject, report.packages) for subject in cause.subjects}
    within = f" in {len(packages)} packages" if len(packages) > 1 else ""
    return f"{' and' if same else '; similar in'} {plural(count, 'other file')}{within}" if count else ""


def some(names: list[str]) -> tuple[str, ...]:
    """The first names, and how many more there are."""
    more = len(names) - _SHOWN
    return (*names[:_SHOWN], *((f"and {more} more",) if more > 0 else ()))


def first(names: Sequence[str]) -> str:
    """The first names for a headline, three at most: readable, each once, as many as fit, and at least one."""
    readable = [*dict.fromkeys(map(demangle, names[:_SHOWN]))]
    shown = readable[:_IN_HEADLINE]
    while len(shown) > 1 and len("".join(shown)) > _FITS:
        shown.pop()
    return ", ".join(shown) + (", ..." if len(names) > _IN_HEADLINE or len(readable) > len(shown) else "")


def list_names(names: Sequence[str]) -> str:
    """Names in a sentence, the first three of them: `torch`, `numpy and torch`, `a, b, c and 2 more`."""
    more = len(names) - _IN_HEADLINE
    return join_names([*names[:_IN_HEADLINE], *([f"{more} more"] if more > 0 else [])])


def join_names(names: Sequence[str]) -> str:
    """All names in a sentence: `torch`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def name_newest(newer: Mapping[str, Version]) -> tuple[str, str]:
    """The names that only the newest version has, for a headline, and that version: it is not true of the others."""
    worst = max(newer.values())
    return first(sorted(name for name, since in newer.items() if since == worst)), version_text(worst)


def demangle(name: str) -> str:
    """`arrow::Table` of a C++ name with namespaces or a simple function, without types; any other name as it is."""
    head = _MANGLED.match(name)
    if head is None:
        return name
    parts, rest = ["std"] if head["std"] else [], name[head.end() :]
    while length_match := re.match(r"\d{1,4}", rest):  # int() refuses thousands of digits
        length = length_match.end() + int(length_match[0])
        parts.append(rest[length_match.end() : length])
        rest = rest[length:] if head["nested"] else ""
    return "::".join(parts) if any(parts) and parts != ["std"] else name


def own_name(image: Image) -> str:
    """`SONAME libx.so.1`; "" if the image has no name."""
    return f"{_OWN_NAMES[image.format]} {image.soname}" if image.soname else ""


def name_platform(form: str, archs: Iterable[str]) -> str:
    """`Linux on arm64`, for people, of a binary format and its names of processors."""
    system = next((title for name, title in SYSTEMS.items() if name == form), "")
    processors = " and ".join(_PROCESSORS.get(arch, arch) for arch in archs)
    return " on ".join(filter(None, (system, processors)))


def needs(image: Image, name: str) -> str:
    """`NEEDED libx.so.1`, `LC_LOAD_WEAK_DYLIB @rpath/libx.dylib`, `delay import of x.dll`."""
    kind = image.link_kinds.get(name, "normal")
    if image.format == "macho":
        return f"{_MACHO_LINKS[kind]} {name}"
    if image.format == "pe":
        return f"{'delay import' if kind == 'delay' else 'import'} of {name}"
    return f"NEEDED {name}"


def is_late(image: Image, name: str) -> bool:
    """Whether Windows looks for a library only when the image first uses it, so that the image loads without it."""
    return image.format == "pe" and image.link_kinds.get(name) == "delay"


def links(image: Image) -> Iterator[tuple[str, str]]:
    """Every library that the image needs or forwards exports to, with the evidence."""
    for name in image.needed:
        yield name, needs(image, name)
    if image.format == "pe":
        for export in image.exports:
            if export.forward:
                yield (
                    f"{export.forward.rpartition('.')[0]}.dll",
                    f"export {export.name} is forwarded to {export.forward}",
                )


def search_paths(image: Image) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each table of search paths with its folders."""
    name = "LC_RPATH" if image.format == "macho" else "RPATH"
    return ((name, image.rpath), ("RUNPATH", image.runpath))
