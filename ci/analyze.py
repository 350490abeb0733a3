"""Searches the loader's C files for faults with clang-tidy, cppcheck and gcc's analyzer; says what was not searched.

    python -m ci.analyze [FILE...]

Each tool reads each file by itself, so that a file counts only if the tool ended without a finding for it. A tool that
is not installed is named as not run. Exit status: 0 no findings, 1 findings.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from latebind.native.stublibrary import stub_table
from latebind.tables.presets import function_table, preset

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "loader" / "src"
_FLAGS = ("-std=c99", "-D_GNU_SOURCE", f"-I{SOURCES}", f"-I{ROOT / 'loader' / 'include'}")
_TIDY = (
    *("clang-analyzer-*", "bugprone-*", "-clang-analyzer-security.insecureAPI.*"),
    "-clang-analyzer-optin.performance.*",
    # Of style, or of a program's own names:
    *("-bugprone-easily-swappable-parameters", "-bugprone-reserved-identifier", "-bugprone-branch-clone"),
    *("-bugprone-macro-parentheses", "-bugprone-implicit-widening-of-multiplication-result"),
    *("-bugprone-narrowing-conversions", "-bugprone-sizeof-expression", "-bugprone-not-null-terminated-result"),
)
_WHOLE = "loader.c"
"""It only includes the others."""
_BY_TABLE, _PRESET = "functions_stub.c", "litert"
_LIMIT = 300.0
"""Seconds for one file; the longest takes seven."""


@dataclass(frozen=True)
class Tool:
    """A program that searches one file, and the files that it can't read here."""

    name: str
    package: str
    command: tuple[str, ...]
    on_windows: tuple[str, ...] | None = ()
    """Another command for the files of Windows; None: it can't read them."""
    needs_headers: bool = True
    """It reads no files of macOS, whose headers are Apple's."""

    def command_for(self, file: Path) -> tuple[str, ...] | None:
        """What searches a file; None where the tool can't."""
        if "macos" in file.name and self.needs_headers:
            return None
        if "windows" in file.name and self.needs_headers:
            return self.on_windows
        return self.command

    def search(self, file: Path, table: Path) -> str:
        """What the tool found in a file; "" for nothing. `table` is the folder with the table of functions."""
        command = self.command_for(file) or ()
        words = [part.replace("{file}", str(file)) for part in command]
        if file.name == _BY_TABLE:
            words += ["-DLATEBIND_STUB", "-D__x86_64__=1", f"-I{table}"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=_LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return f"{file.name}: {self.name} did not end within {_LIMIT:.0f} s"
        return f"{done.stdout}{done.stderr}".strip() if done.returncode or "warning:" in done.stderr else ""


_MINGW = "x86_64-w64-mingw32-gcc"
_ANALYZER = ("-O1", "-fanalyzer", "-Werror", "-c", "{file}", "-o", os.devnull, *_FLAGS)
_TIDY_COMMAND = ("clang-tidy", "--quiet", "--warnings-as-errors=*", f"--checks=-*,{','.join(_TIDY)}", "{file}", "--")
TOOLS = (
    Tool(
        "clang-tidy",
        "clang-tidy",
        (*_TIDY_COMMAND, *_FLAGS),
        on_windows=(*_TIDY_COMMAND, "--target=x86_64-w64-windows-gnu", *_FLAGS) if shutil.which(_MINGW) else None,
    ),
    Tool(
        "cppcheck",
        "cppcheck",
        (
            "cppcheck",
            "--quiet",
            "--enable=warning,portability",
            "--std=c99",
            "--error-exitcode=1",
            "{file}",
            *_FLAGS[2:],
        ),
        needs_headers=False,
    ),
    Tool(
        "gcc",
        "gcc",
        ("gcc", *_ANALYZER),
        on_windows=(_MINGW, *_ANALYZER) if shutil.which(_MINGW) else None,
    ),
)


def list_files() -> list[Path]:
    """The loader's files."""
    return [file for file in sorted(SOURCES.glob("*.c")) if file.name != _WHOLE]


def write_table(folder: Path) -> None:
    """The table that functions_stub.c includes, of one of the presets."""
    runtime = preset(_PRESET)
    if table := function_table(_PRESET):
        (folder / "stub_table.h").write_text(stub_table(runtime, table) + "\n", "utf-8")


def search_with(tool: Tool, files: list[Path], table: Path) -> list[str]:
    """The findings of a tool, and a line on what it has searched."""
    read = [file for file in files if tool.command_for(file)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        findings = list(filter(None, pool.map(lambda file: tool.search(file, table), read)))
    left = [file.name for file in files if file not in read]
    note = f"; not run for want of headers: {', '.join(left)}" if left else ""
    print(f"{tool.name}: {len(read)} files searched, {len(findings)} with findings{note}", flush=True)
    return findings


def main() -> int:
    """Search with each tool."""
    findings: list[str] = []
    with TemporaryDirectory() as folder:
        write_table(Path(folder))
        files = [Path(name).resolve() for name in sys.argv[1:]] or list_files()
        for tool in TOOLS:
            if shutil.which(tool.command[0]) is None:
                print(f"{tool.name}: not run, it is not on PATH (apt-get install {tool.package})")
            else:
                findings += search_with(tool, files, Path(folder))
    print("\n".join(findings), end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
