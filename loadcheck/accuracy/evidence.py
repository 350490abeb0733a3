"""Confirms what the audit reports on published wheels with other tools, by a table of commands for each check.

A command's output must show, or lack, what the evidence of the finding says; where the audit reports nothing about
bound runtimes, no tool may show one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadcheck.model import AuditReport, Finding

_NATIVE = re.compile(r"\.(so|dylib|pyd|dll)(\.[\d.]+)?$")
_PLACES = re.compile(r"<(\w+)>")


class MissingError(Exception):
    """A tool is not on this machine."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A command and what its output proves, as regular expressions; blanks in the output count as one.

    In a command, {wheel} is the wheel, {file} an unpacked file of it, {name} that file's name. In `shows` and `lacks`,
    <1> is what group 1 of `evidence` matches in the finding's evidence, and <name> the file's name.
    """

    codes: str
    command: str
    evidence: str = r"(?s)\A.*\Z"
    shows: str = ""
    lacks: str = ""
    systems: str = "linux macos windows"


_ELF, _EXPORT = "readelf -d -W {file}", r"(?<! LOCAL) (DEFAULT|PROTECTED) \d+ <1>(@|$)"
_METADATA = "unzip -p {wheel} {name}"
_SYMBOLS = {"linux": "readelf --dyn-syms -W {file}", "macos": "llvm-nm -g -U {file}",
            "windows": "llvm-readobj --sections --coff-exports {file}"}  # fmt: skip
_LINKS = {"linux": _ELF, "macos": "llvm-otool -L {file}", "windows": "objdump -p {file}"}
PROOFS = (
    Proof("LB101 LB107 LB114", _ELF, r"^NEEDED (.+)$", r"\(NEEDED\) Shared library: \[<1>\]", systems="linux"),
    Proof("LB101 LB107 LB114", _LINKS["macos"], r"^LC_\w+ (.+)$", r"^<1> \(compat", systems="macos"),
    Proof("LB101 LB107 LB111", _LINKS["windows"], r"import of (.+)$", r"^DLL Name: <1>$", systems="windows"),
    Proof("LB107", "unzip -Z1 {wheel}", r"^(?:.* )?(?:.*/)?(.+)$", lacks=r"(?i)/<1>$"),
    Proof("LB102", "readelf -V -W {file}", r"^VERNEED (\S+) (\S+)$", r"File: <1> (.*\n)+?.*Name: <2> "),
    Proof("LB103", "unzip -l {wheel}", r"^file (.+)$", r"^\d{7,} .*/<1>$"),
    Proof("LB103", _SYMBOLS["linux"], r"^exports (.+)$", f" FUNC GLOBAL{_EXPORT}", systems="linux"),
    Proof("LB103", _SYMBOLS["macos"], r"^exports (.+)$", r"^\w+ T _<1>$", systems="macos"),
    Proof("LB103", _SYMBOLS["windows"], r"^exports (.+)$", r"^<1> is in \.text$", systems="windows"),
    Proof("LB106", _SYMBOLS["linux"], r"^(\w+)$", r" UND <1>$", r"\b<1>@", systems="linux"),
    Proof("LB108", _ELF, r"^(R\w+) (.*)$", r"\(<1>\) Library \w+: \[(.*:)?<2>(:.*)?\]", systems="linux"),
    Proof("LB108", "llvm-otool -l {file}", r"^LC_RPATH (.*)$", r"^path <1> \(", systems="macos"),
    Proof("LB202", _SYMBOLS["linux"], r"^(_Z\S+)$", _EXPORT, systems="linux"),
    Proof("LB202", _SYMBOLS["macos"], r"^(_Z\S+)$", r"^\w+ [A-TV-Z] _<1>$", systems="macos"),
    Proof("LB202", _SYMBOLS["windows"], r"^(\?\S+)$", r"^Name: <1>$", systems="windows"),
    Proof("LB303", _METADATA, r"^(Root-Is-Purelib: true)$", r"^<1>$"),
    Proof("LB303 LB408", "unzip -Z1 {wheel}", r"^(.+/.+)$", r"^<1>$"),
    Proof("LB308", "llvm-otool -l {file}", r"^minimum OS version (.+)$", r"^(minos|version) <1>$"),
    Proof("LB308", "llvm-nm -m {file}", r"^(\w+)$", r"\(undefined\) external _<1> \(from lib"),
    Proof("LB501", "unzip -l {wheel}", r"^file: (\d+)$", r"^<1> .* <name>$"),
    Proof("LB501", "unzip -p {wheel} *.dist-info/RECORD", r"^RECORD: (.+)$", r"^<name>,.*<1>"),
    Proof("LB502", _METADATA, r"^(Tag: .+)$", r"^<1>$"),
    Proof("LB504 LB506", _METADATA, r"^(.+)$", r"^Requires-Dist: <1>"),
    Proof("LB509", _METADATA, r"^missing: summary$", lacks=r"^Summary: "),
    Proof("LB509", _METADATA, r"^missing: README$", lacks=r"\n\n\S"),
    Proof("LB509", _METADATA, r"^missing: link$", lacks=r"^(Home-page|Project-URL): "),
    Proof("LB509", _METADATA, r"^missing: author$", lacks=r"^(Author|Maintainer)(-email)?: "),
    Proof("LB612", "readelf -S -W {file}", shows=r" \.debug_info PROGBITS", systems="linux"),
    Proof("LB612", "llvm-nm -a {file}", shows=r" OSO ", systems="macos"),
)
_RUNTIMES = r"(?i)\b(lib)?(onnxruntime|openvino|openvino_c|openvino_ir\w*|litert)\.(so|dylib|dll|[\d.]+)"
CLEAR = (
    *(Proof("LB101", command, lacks=_RUNTIMES, systems=system) for system, command in _LINKS.items()),
    Proof("LB103", "unzip -Z1 {wheel}", lacks=_RUNTIMES),
    Proof(
        "LB105",
        "strings -a {file}",
        lacks=r"only (API versions \[|version )1(, | to )%u|InferenceSession@onnxruntime|"
        r"N11onnxruntime16InferenceSessionE|N2ov8CoreImplE|\.\?AVCoreImpl@ov@@",
    ),
)
"""What holds of a wheel in which the audit reports neither the code nor, found or skipped, LB103: a runtime."""


def list_unproved(system: str, codes: Sequence[str]) -> list[str]:
    """The codes that no command confirms for a system."""
    proved = {code for proof in PROOFS if system in proof.systems for code in proof.codes.split()}
    return sorted(set(codes) - proved)


def confirm(wheel: Path, system: str, report: AuditReport) -> Iterator[tuple[str, str]]:
    """What was run for each finding on a wheel, with what is wrong; "" for nothing. Raises MissingError."""
    for finding in report.findings:
        name = finding.subject.partition("!")[2]
        proofs = [proof for proof in PROOFS if system in proof.systems and finding.code in proof.codes]
        expected = [result for proof in proofs for result in _compare_evidence(proof, finding, wheel, name)]
        title = f"{finding.subject} {finding.code}"
        yield from expected or [(title, f"no command confirms {finding.evidence}")]
    checked = {result.code for result in report.findings} | {result.check for result in report.skipped}
    for proof in CLEAR:
        if system in proof.systems and checked.isdisjoint({proof.codes, "LB103"}):
            for name in _natives(wheel) if "{file}" in proof.command else [""]:
                yield (
                    f"{wheel.name}!{name}: no {proof.codes}",
                    _judge_output(proof.command, wheel, name, "", proof.lacks),
                )


def _compare_evidence(proof: Proof, finding: Finding, wheel: Path, name: str) -> Iterator[tuple[str, str]]:
    for match in re.finditer(proof.evidence, "\n".join(finding.evidence), re.MULTILINE):
        values = {"name": name, **{str(number): text for number, text in enumerate(match.groups(), 1)}}
        shows, lacks = (_fill_pattern(text, values) for text in (proof.shows, proof.lacks))
        yield f"{finding.subject} {finding.code}", _judge_output(proof.command, wheel, name, shows, lacks)


def _fill_pattern(pattern: str, values: Mapping[str, str]) -> str:
    return _PLACES.sub(lambda placeholder: re.escape(" ".join(values[placeholder[1]].split())), pattern)


def _judge_output(command: str, wheel: Path, name: str, shows: str, lacks: str) -> str:
    text = _output(command, wheel, name)
    if shows and not re.search(shows, text, re.MULTILINE):
        return f"{command} does not show {shows}"
    if lacks and (match := re.search(lacks, text, re.MULTILINE)):
        return f"{command} shows {match[0]}"
    return ""


@cache
def _natives(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if _NATIVE.search(name)]


@cache
def _output(command: str, wheel: Path, name: str) -> str:
    tool, *arguments = command.split()
    program = shutil.which(tool)
    if program is None:
        raise MissingError(f"{tool} is not on this machine: apt-get install binutils llvm unzip")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / Path(name).name
        if "{file}" in arguments:
            with zipfile.ZipFile(wheel) as archive:
                file.write_bytes(archive.read(name))
        values = {"{file}": str(file), "{wheel}": str(wheel), "{name}": name}
        argv = [program, *(values.get(argument, argument) for argument in arguments)]
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}
        ended = subprocess.run(argv, check=False, capture_output=True, env=environment)
    text = "\n".join(" ".join(line.split()) for line in ended.stdout.decode("utf-8", "replace").splitlines())
    if ended.returncode:
        return f"ended with {ended.returncode}: {ended.stderr.decode('utf-8', 'replace')[:200]}"
    return text + "".join(f"\n{line}" for line in _list_sections(text)) if "--coff-exports" in arguments else text


def _list_sections(text: str) -> Iterator[str]:
    """The section of each export that llvm-readobj prints: `name is in .data`."""
    sections = re.findall(r"^Name: (\S+) \(.*\nVirtualSize: (\w+)\nVirtualAddress: (\w+)$", text, re.MULTILINE)
    for name, address in re.findall(r"^Name: (.*)\nRVA: (\w+)$", text, re.MULTILINE):
        for section, size, start in sections:
            if 0 <= int(address, 16) - int(start, 16) < int(size, 16):
                yield f"{name} is in {section}"
