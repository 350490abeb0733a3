"""The peak memory of one worker of the audit for each wheel, in a fresh worker each; prints JSON.

python ci/bench/memory.py WHEEL...
"""

from __future__ import annotations

import json
import resource
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from loadcheck.api import Policy
from loadcheck.audit import Task, audit_package
from loadcheck.engine.pool import Died, Pool, WorkerLimits

if TYPE_CHECKING:
    from collections.abc import Callable

_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


def peak(task: Task, tell: Callable[[str], None]) -> int:
    """Audit, and give this process's peak in bytes."""
    audit_package(task, tell)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def measure(path: Path) -> dict[str, int | str]:
    """The peak of a worker that reads this wheel, and the largest member that it has in flight."""
    with zipfile.ZipFile(path) as archive:
        largest = max(info.file_size for info in archive.infolist())
    with Pool(peak, 1, WorkerLimits()) as pool:
        (outcome,) = pool.run([Task(path=path, kind="wheel", policy=Policy())])
    if isinstance(outcome, Died):
        raise SystemExit(f"{path}: {outcome.how}")
    return {"wheel": path.name, "peak": outcome, "largest": largest}


if __name__ == "__main__":
    print(json.dumps([measure(Path(name)) for name in sys.argv[1:]]))
