"""Runs programs: argument lists without a shell, limits, captured output.

Nothing else of latebind starts a process, except processes.py, which starts its watcher and `ps` to end what this
module started, and `backend.run` in the build of an sdist.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from latebind.backend.run import Completed, command_text, tail, write_log
from latebind.errors import ToolError
from latebind.system.limits import Limits, PastLimitError, watch
from latebind.system.log import LOG
from latebind.system.processes import TREE, end_trees, extend_mark
from latebind.text import ending, is_crash

if sys.platform == "win32":
    from latebind.system.job import Job


_LOOK_SECONDS = 0.5
_LEFT_SECONDS = 10.0
_VERIFY_ADVICE = 'Run: pip install "latebind[verify]"'
_LIVE: set[_Started] = set()
_LOCK = threading.Lock()
_STOPPING = threading.Event()
"""Set while all processes are being ended: no new one may be started."""


class _Started:
    """A running process and how all that it started is ended."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str, *, limited: bool) -> None:
        self.process, self.mark, self.limited = process, mark, limited
        if sys.platform == "win32":
            self._job = Job(int(process._handle))  # noqa: SLF001  # Popen has no other way to its handle

    def kill(self) -> None:
        """End the process and its group; on Windows its job."""
        try:
            if sys.platform == "win32":
                self._job.end()
                self.process.kill()
            else:
                os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def close(self) -> None:
        """Let go of what is needed to end it; what it left behind is ended where limits hold: builds may leave it."""
        if self.limited:
            self.kill()
            end_trees([self.mark])
        if sys.platform == "win32":
            self._job.close()


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
    watcher: Callable[[bytes], None] | None = None,
) -> Completed:
    """Run a program to its end and return what it printed.

    `env` replaces the whole environment when it is given; `umask` the caller's when it is not -1. `timeout` is in
    seconds; at the limit, and on Ctrl-C, all that the program started is ended with it. `limits` replaces it and adds
    memory, processes and output; then what the program leaves behind at its end is ended, too. `user` is the number of
    a user and group to become, for which one must be root. With `check`, a status other than 0 raises. `log` receives
    the command and all output. `watcher` gets what was printed so far, twice a second.

    Raises ToolError: the program is missing, failed, or ran past a limit; the message ends with the last lines of
    its output.
    """
    arguments = tuple(str(argument) for argument in argv)
    name = Path(arguments[0]).name
    limited = limits is not None and limits.watched
    if limited:
        check_limits()
    mark = extend_mark(os.environ.get(TREE, ""))
    try:
        started = _start(arguments, mark, limited=limited, cwd=cwd, env=env, umask=umask, user=user, advice=advice)
        raw = _finish(started, limits or Limits(seconds=timeout), watcher)
    except PastLimitError as error:
        text = _decode(error.output)
        write_log(log, arguments, text)
        raise ToolError(f"{name} ran past its limit of {error}\n{tail(text)}", advice=advice) from error
    except KeyboardInterrupt:  # it may come after the start, before _finished() can end the process
        end_trees([mark])
        raise
    text = _decode(raw)
    write_log(log, arguments, text)
    status = started.process.returncode
    if status != 0 and _STOPPING.is_set():  # it was ended with all others, and did not fail
        raise KeyboardInterrupt
    if check and status != 0:
        command = f": {command_text(arguments)}" if LOG.level == "verbose" else ""
        raise ToolError(
            f"{name} {_failure(status)}{command}\n{tail(text)}",
            where="" if log is None else str(log),
            advice=advice,
        )
    return Completed(argv=arguments, returncode=status, output=text)


def _start(  # noqa: PLR0913  # as run()
    arguments: tuple[str, ...],
    mark: str,
    *,
    limited: bool,
    cwd: Path | None,
    env: Mapping[str, str] | None,
    umask: int,
    user: int | None,
    advice: str,
) -> _Started:
    """Start a program in a session of its own. Raises ToolError when it or its folder is missing."""
    try:
        process = subprocess.Popen(
            arguments,
            cwd=cwd,
            env={**(os.environ if env is None else env), TREE: mark},
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
        missing = f"folder {cwd}" if cwd is not None and not cwd.is_dir() else f"program {arguments[0]}"
        raise ToolError(f"{missing} was not found", advice=advice) from error
    except OSError as error:
        raise ToolError(f"{arguments[0]} cannot be started: {error.strerror}", advice=advice) from error
    started = _Started(process, mark, limited=limited)
    with _LOCK:
        _LIVE.add(started)
    if _STOPPING.is_set():  # it may have come too late to be ended with the others
        started.kill()
        end_trees([mark])
    return started


def check_limits() -> None:
    """Raises ToolError when programs cannot be held to limits because psutil is missing."""
    if importlib.util.find_spec("psutil") is None:
        raise ToolError("psutil, which enforces the limits of test cases, is not installed", advice=_VERIFY_ADVICE)


def _finish(started: _Started, limits: Limits, watcher: Callable[[bytes], None] | None) -> bytes:
    """What a process printed by its end; nothing of it is left. Raises PastLimitError with what it had printed."""
    try:
        return _wait(started, limits, watcher)
    except PastLimitError as error:
        error.output = _end(started)
        raise
    except BaseException:
        _end(started)
        raise
    finally:
        with _LOCK:
            _LIVE.discard(started)
        started.close()


def _wait(started: _Started, limits: Limits, watcher: Callable[[bytes], None] | None) -> bytes:
    """What a process printed by its end. Raises PastLimitError."""
    process = started.process
    end = time.monotonic() + limits.seconds
    interval = _LOOK_SECONDS if limits.watched or watcher is not None else limits.seconds
    while True:
        try:
            return process.communicate(timeout=interval)[0] or b""
        except subprocess.TimeoutExpired as error:
            output = error.output or b""
        if watcher is not None:
            watcher(output)
        if limits.watched:
            if process.poll() is not None:  # what it left behind holds its output open
                return _end(started)
            if len(output) > limits.output:
                raise PastLimitError(f"{limits.output >> 20} MiB of output")
            watch(process.pid, limits)
        if time.monotonic() >= end:
            raise PastLimitError(f"{limits.seconds:.0f} s")


def _end(started: _Started) -> bytes:
    """End a process and everything that it started; return what it had printed."""
    started.kill()
    end_trees([started.mark])
    try:
        raw, _ = started.process.communicate(timeout=_LEFT_SECONDS)
    except subprocess.TimeoutExpired as error:  # something without a mark holds the pipe
        return error.output or b""
    return raw or b""


@contextmanager
def all_ended() -> Iterator[None]:
    """End every process that any thread runs, and let no thread start one within the block.

    A caller that waits for one gets a KeyboardInterrupt: the program did not fail. Of itself, an interruption reaches
    only the main thread, and no process that has a session of its own.
    """
    _STOPPING.set()
    try:
        with _LOCK:
            live = list(_LIVE)
        for started in live:
            started.kill()
        end_trees([started.mark for started in live])
        yield
    finally:
        _STOPPING.clear()


def _failure(status: int) -> str:
    """`failed with status 1`, `ended by SIGSEGV (11)`."""
    return ending(status) if is_crash(status) else f"failed with status {status}"


def _decode(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")
