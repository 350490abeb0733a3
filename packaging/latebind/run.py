"""The only place that starts a process: argument lists, time limits, captured output shown on failure."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import ToolError
from latebind.limits import MARK, Limits, PastLimitError, end_marked, watch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TAIL_LINES = 40
_LOOK_SECONDS = 0.5
_LEFT_SECONDS = 10.0
_VERIFY_ADVICE = 'Run: pip install "latebind[verify]"'
_LIVE: set[subprocess.Popen[bytes]] = set()
_LOCK = threading.Lock()
_SECRET_WORDS = ("token", "secret", "password", "passwd", "apikey", "api-key", "api_key", "credential")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A process that ended by itself. `output` is stdout and stderr as they came, decoded leniently."""

    argv: tuple[str, ...]
    returncode: int
    output: str


def run(  # noqa: PLR0913  # each argument is one independent property of a process
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 600,
    check: bool = True,
    log: Path | None = None,
    advice: str = "",
    umask: int = -1,
    limits: Limits | None = None,
    user: int | None = None,
) -> Completed:
    """Run a program to its end and return what it printed.

    `env` replaces the whole environment when it is given; `umask` the caller's when it is not -1. `timeout` is in
    seconds; at the limit, and on Ctrl-C, the whole process group is ended. `limits` replaces it and adds memory,
    processes and output; then all that the program started is ended with it, daemons, too, and nothing else may run in
    `cwd`. `user` is the number of a user and group to become, for which one must be root. With `check`, a status other
    than 0 raises. `log` receives the command and all output.

    Raises ToolError: the program is missing, failed, or ran past a limit; the message ends with the last lines of
    its output.
    """
    words = tuple(str(word) for word in argv)
    name = Path(words[0]).name
    place = cwd if limits is not None and limits.watched else None
    if limits is not None and limits.watched:
        check_limits()
    if place is not None:
        env = {**(os.environ if env is None else env), MARK: str(place)}
    process = _start(words, cwd=cwd, env=env, umask=umask, user=user, advice=advice)
    with _LOCK:
        _LIVE.add(process)
    try:
        raw = _waited(process, limits or Limits(seconds=timeout), place)
    except PastLimitError as error:
        _end_left(process, place)
        raw = end_group(process)
        text = _decode(raw)
        _write_log(log, words, text)
        raise ToolError(f"{name} ran past its limit of {error}\n{tail(text)}", advice=advice) from error
    except BaseException:
        end_group(process)
        raise
    finally:
        with _LOCK:
            _LIVE.discard(process)
        _end_left(process, place)
    text = _decode(raw)
    _write_log(log, words, text)
    if check and process.returncode != 0:
        raise ToolError(
            f"{name} failed with status {process.returncode}: {shown(words)}\n{tail(text)}",
            where="" if log is None else str(log),
            advice=advice,
        )
    return Completed(argv=words, returncode=process.returncode, output=text)


def _start(  # noqa: PLR0913  # as run()
    words: tuple[str, ...],
    *,
    cwd: Path | None,
    env: Mapping[str, str] | None,
    umask: int,
    user: int | None,
    advice: str,
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own. Raises ToolError when it or its folder is missing."""
    try:
        return subprocess.Popen(
            words,
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            umask=umask,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )
    except FileNotFoundError as error:
        missing = f"folder {cwd}" if cwd is not None and not cwd.is_dir() else f"program {words[0]}"
        raise ToolError(f"{missing} is not there", advice=advice) from error
    except OSError as error:
        raise ToolError(f"{words[0]} cannot be started: {error.strerror}", advice=advice) from error


def check_limits() -> None:
    """Raises ToolError when programs cannot be held to limits, for want of psutil."""
    if importlib.util.find_spec("psutil") is None:
        raise ToolError("psutil is missing, which holds cells to limits", advice=_VERIFY_ADVICE)


def _waited(process: subprocess.Popen[bytes], limits: Limits, place: Path | None) -> bytes:
    """What a process printed by its end. Raises PastLimitError."""
    if not limits.watched:
        try:
            return process.communicate(timeout=limits.seconds)[0] or b""
        except subprocess.TimeoutExpired:
            raise PastLimitError(f"{limits.seconds:.0f} s") from None
    end = time.monotonic() + limits.seconds
    while True:
        try:
            return process.communicate(timeout=_LOOK_SECONDS)[0] or b""
        except subprocess.TimeoutExpired as error:
            if process.poll() is not None:  # what it left behind holds its output open
                _end_left(process, place)
                return end_group(process)
            if len(error.output or b"") > limits.output:
                raise PastLimitError(f"{limits.output >> 20} MiB of output") from None
            watch(process.pid, limits)
        if time.monotonic() > end:
            raise PastLimitError(f"{limits.seconds:.0f} s")


def _end_left(process: subprocess.Popen[bytes], place: Path | None) -> None:
    """End what a program that was started in a folder with limits left behind; without limits builds may leave it."""
    if place is not None:
        _kill_group(process)
        end_marked(place)


def end_all() -> None:
    """End every process that any thread has running; whoever waits for one gets a ToolError.

    An interruption reaches the main thread alone, and processes in sessions of their own not at all.
    """
    with _LOCK:
        live = list(_LIVE)
    for process in live:
        _kill_group(process)


def end_group(process: subprocess.Popen[bytes]) -> bytes:
    """End a process and everything that it started; return what it had printed."""
    _kill_group(process)
    try:
        raw, _ = process.communicate(timeout=_LEFT_SECONDS)
    except subprocess.TimeoutExpired as error:  # a grandchild in its own session holds the pipe
        return error.output or b""
    return raw or b""


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    try:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def which(name: str, *, path: str | None = None) -> Path | None:
    """The program of that name on PATH, or None."""
    found = shutil.which(name, path=path)
    return Path(found) if found else None


def shown(words: Sequence[str]) -> str:
    """A command as a user would type it, with the value of anything that looks like a secret left out."""
    out, hide = [], False
    for word in words:
        lowered = word.lower()
        if hide:
            out.append("***")
            hide = False
        elif any(secret in lowered for secret in _SECRET_WORDS):
            name, equals, _ = word.partition("=")
            out.append(f"{name}=***" if equals else word)
            hide = not equals and word.startswith("-")
        else:
            out.append(word)
    return shlex.join(out)


def tail(text: str, lines: int = TAIL_LINES) -> str:
    """The last lines of a program's output, each indented."""
    return "\n".join(f"    {line}" for line in text.rstrip().splitlines()[-lines:])


def _decode(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")


def _write_log(log: Path | None, words: Sequence[str], text: str) -> None:
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"$ {shown(words)}\n{text}\n")
