"""The consumers' protocol: the JSON that a consumer of any language writes, and the one parser for it.

docs/consumers.md describes it for users.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from packaging.version import Version

from latebind.backend.run import tail
from latebind.errors import InputError, NotRun
from latebind.system.decoding import DECODE_ERRORS
from latebind.system.limits import CASE_LIMITS
from latebind.system.run import run
from latebind.text import DOCS, decisive_line, ending, is_crash
from latebind.verify.run.installers import clean_environment
from latebind.verify.run.machine import NOT_SUPPORTED, Machine
from latebind.verify.run.trial import Trial, failing_at

ALL_PASSED, SOME_FAILED, NOTHING_LOADED = 0, 1, 3
"""Exit statuses of a consumer."""
_LINES = 8
"""How many of a consumer's last lines are in the report; the log has all."""
_RUNS = {"--fork": 3}
"""How often main() is called; in threads, as often as the word after the action says."""
_ADVICE = f"{DOCS}/consumers.md describes what a consumer writes."
_HIDDEN = re.compile(r"undefined symbol: |symbol not found|dlsym\(.*\): |function '\w+' not found|EntryPointNotFound")
"""What ctypes, ld.so, dyld and .NET say about a function that a library does not export."""
_EXPORTS = (
    "If it is a function of your library, export it: mark it in the sources, and add it to latebind_exports() in "
    "CMakeLists.txt, which hides what matches none of its patterns."
)


class CaseFailure(msgspec.Struct, frozen=True):
    """A case that failed, and how."""

    name: str
    message: str


class LoadError(msgspec.Struct, frozen=True):
    """The error that a user sees when nothing can be loaded."""

    message: str


class RuntimeReport(msgspec.Struct, frozen=True):
    """The loader's report on the runtime, as far as it is judged."""

    version: str = ""
    path: str = ""
    runtime: str = ""
    copies: int = msgspec.field(default=0, name="images")
    """How many libraries in the process had the runtime's entry symbol when it was bound."""


class Recorded(msgspec.Struct, frozen=True):
    """A line of what a stub records: the loader's report, or the newest function so far."""

    report: RuntimeReport | None = None
    runtime: str = ""
    """The runtime of the function."""
    function: str = ""
    since: str = ""


class ManagedAssembly(msgspec.Struct, frozen=True):
    """The packages' assembly that a .NET process loaded: its file, "" in a single file, and its TargetFramework."""

    path: str = ""
    framework: str = ""


class ConsumerResult(msgspec.Struct, frozen=True):
    """What a consumer writes. Keys that are not here are ignored."""

    passed: tuple[str, ...] = ()
    failed: tuple[CaseFailure, ...] = ()
    out_of_scope: dict[str, str] = msgspec.field(default_factory=dict)
    """Cases that are not tried on purpose, and why."""
    libraries: tuple[str, ...] = ()
    """Files of the packages and the runtime that are mapped into the process."""
    report: RuntimeReport | None = None
    assembly: ManagedAssembly = ManagedAssembly()
    no_device: str = ""
    """Why nothing was computed: an execution provider was registered, and this machine has no device for it."""
    no_host: str = ""
    """Why nothing was computed: the program that would load the plugin cannot load any here."""
    error: LoadError | None = None
    newest: Recorded | None = None
    """The call that needs the newest runtime, where a stub recorded it."""

    @property
    def version(self) -> str:
        """The version of the bound runtime, "" without one."""
        return self.report.version if self.report else ""

    @property
    def has_cases(self) -> bool:
        """Whether the consumer got as far as its cases."""
        return bool(self.passed or self.failed)

    @property
    def message(self) -> str:
        """The error that a user sees, "" when something was loaded."""
        return self.error.message if self.error else ""


class SeenProcess(msgspec.Struct, frozen=True):
    """What driver.py saw of the consumer's process."""

    path: tuple[str, ...]
    """sys.path."""
    libraries: tuple[str, ...]
    """Every library that was mapped."""
    variables: tuple[str, ...]
    """Names of the environment variables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRun:
    """How a consumer ended, and what it wrote."""

    status: int
    output: str
    result: ConsumerResult


def run_program(trial: Trial, program: Path, cases: Path, folder: Path, *, name: str) -> ConsumerRun:
    """Run a program in C or C++ on the test case's machine, with a folder of packages or of the runtime.

    Raises NotRun and PhaseError as `run_consumer` does.
    """
    result, home = trial.work / "result.json", trial.work / "home"
    home.mkdir(exist_ok=True)
    ended = run_consumer(
        trial.machine.argv(program, *trial.situation.action, cases, result, folder, *trial.consumer_words()),
        name=name,
        result=result,
        cwd=home,
        env={**clean_environment(), **trial.situation.environment},
        log=trial.log,
        machine=trial.machine,
    )
    with failing_at("load"):
        others = [read_result(path.read_bytes(), name) for path in _list_further_results(trial, result)]
        _compare_runs(ended.result, others)
    return ended


def _list_further_results(trial: Trial, result: Path) -> Iterator[Path]:
    """The results of the runs after the first one."""
    name, value = (*trial.situation.action, "", "")[:2]
    number = int(value) if name == "--threads" else _RUNS.get(name, 1)
    yield from (result.with_name(f"{result.name}.{index}") for index in range(1, number))


def _compare_runs(first: ConsumerResult, others: list[ConsumerResult]) -> None:
    """Raises InputError when a run ended in another way than the first one."""
    for number, other in enumerate(others, 1):
        if (other.passed, other.message, other.version) != (first.passed, first.message, first.version):
            cases = "; ".join(f"{one.name}: {one.message}" for one in other.failed)
            why = other.message or cases or "its result differs"
            raise InputError(f"run {number} of the program in one process ended in another way than run 0: {why}")


def run_consumer(  # noqa: PLR0913  # a process, and where its result is
    argv: Sequence[str | Path],
    *,
    name: str,
    result: Path,
    cwd: Path,
    env: Mapping[str, str],
    log: Path | None,
    user: int | None = None,
    advice: str = "",
    machine: Machine | None = None,
) -> ConsumerRun:
    """Run a consumer within limits of time and memory, and read its result. `name` is the user's name for it.

    `advice` is for a consumer that the system ends, as by a signal. `machine` is what runs it, if not this system.

    Raises NotRun when the machine reports that it cannot run the program, or the consumer reports a missing device or
    host, PhaseError when the consumer wrote no result, or an invalid one.
    """
    record = result.with_suffix(".record")
    for path in (result, record):
        path.unlink(missing_ok=True)  # of the run before an upgrade
    with failing_at("load"):
        recording = {**env, "LATEBIND_RECORD": str(record)}
        ended = run(argv, cwd=cwd, env=recording, check=False, log=log, limits=CASE_LIMITS, user=user)
        if machine is not None and not machine.is_host and ended.returncode == NOT_SUPPORTED:
            raise NotRun("not-emulated", with_output(f"{machine.title} cannot run {name}", ended.output))
        try:
            raw = result.read_bytes()
        except OSError as error:
            text = f"{name} {ending(ended.returncode)} and wrote no result"
            why = advice if advice and is_crash(ended.returncode) else _advise(ended.output)
            raise InputError(with_output(text, ended.output), advice=why) from error
        parsed = with_record(read_result(raw, name), record)
    for reason, message in (("no-device", parsed.no_device), ("no-host", parsed.no_host)):
        if message and ended.returncode == ALL_PASSED:
            raise NotRun(reason, message)
    return ConsumerRun(status=ended.returncode, output=ended.output, result=parsed)


def _advise(output: str) -> str:
    """What to do about a consumer that wrote no result."""
    return _EXPORTS if _HIDDEN.search(output) else _ADVICE


def with_output(text: str, output: str) -> str:
    """A text followed by the line of a program's output that says why, then by the last lines."""
    readable = "\n".join(map(_message_in, output.splitlines()))
    why = decisive_line(readable)
    if not why:
        return text
    return f"{text}: {why}" if why == readable.strip() else f"{text}: {why}\n{tail(readable, _LINES)}"


def _message_in(line: str) -> str:
    """The message of the loader's report, if a consumer printed that; else the line."""
    if not line.startswith("{"):
        return line
    try:
        return msgspec.json.decode(line, type=LoadError).message or line
    except DECODE_ERRORS:
        return line


def read_result(raw: bytes, name: str) -> ConsumerResult:
    """The result that a consumer wrote. Raises InputError, with the place, for anything else."""
    try:
        return msgspec.json.decode(raw, type=ConsumerResult)
    except msgspec.ValidationError as error:
        raise InputError(f"{name} wrote an invalid result: {error}", advice=_ADVICE) from error
    except DECODE_ERRORS as error:
        raise InputError(f"{name} wrote invalid JSON: {_place(error)}", advice=_ADVICE) from error


def with_record(result: ConsumerResult, record: Path) -> ConsumerResult:
    """The result with what a stub recorded: a consumer need not report what it cannot know."""
    if not record.is_file():
        return result
    try:
        records = [msgspec.json.decode(line, type=Recorded) for line in record.read_bytes().splitlines()]
    except DECODE_ERRORS as error:
        raise InputError(f"the record of the stub is damaged: {error}", where=str(record)) from error
    report = result.report or next((recorded.report for recorded in reversed(records) if recorded.report), None)
    libraries = result.libraries or ((report.path,) if report and report.path else ())
    calls = (call for call in records if call.since and (report is None or call.runtime == report.runtime))
    newest = max(calls, key=lambda call: Version(call.since), default=None)
    return msgspec.structs.replace(result, report=report, libraries=libraries, newest=newest)


def _place(error: Exception) -> str:
    """`invalid character at byte 0`."""
    text = str(error).removeprefix("JSON is malformed: ")
    return re.sub(r" \(byte (\d+)\)$", r" at byte \1", text[:1].lower() + text[1:])
