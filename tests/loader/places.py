"""Files and folders of several users below a sticky folder, and the programs that a user runs there."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.building import Programs

USER, ATTACKER, GROUP = 23456, 12345, 34567
LIBRARY = "libonnxruntime.so.1"
CAPI = "onnxruntime/capi"
NODE = "node_modules/onnxruntime-node/bin/napi-v6/linux/x64"


@dataclass(frozen=True)
class Site:
    """A folder below a sticky one, as /tmp has many, and the programs that a user runs there."""

    base: Path
    programs: Programs

    def install(self, program: str, folder: str, *, owner: int = USER) -> Path:
        """A program or library in a folder of its user."""
        self.make_folders(folder, owner)
        path = Path(shutil.copy(self.programs.folder / program, self.base / folder / program))
        os.chown(path, owner, owner)
        return path

    def make_folders(self, folder: str, owner: int) -> Path:
        """A folder; those that are new belong to the owner."""
        path = self.base
        for part in Path(folder).parts:
            path /= part
            if not path.exists():
                path.mkdir()
                os.chown(path, owner, owner)
        return path

    def add_runtime(
        self, folder: str, *, owner: int = ATTACKER, stand_in: str = "foreign", name: str = LIBRARY
    ) -> Path:
        """A runtime that a user puts into a folder, which is made where it is not there."""
        path = self.make_folders(folder, owner) / name
        shutil.copy(self.programs.stand_in(stand_in), path)
        os.chown(path, owner, owner)
        return path

    def mark(self, name: str, *, owner: int = ATTACKER) -> None:
        """An empty file that makes a folder look like the root of an installation."""
        (self.base / name).touch()
        os.chown(self.base / name, owner, owner)


@contextmanager
def make_site(programs: Programs) -> Iterator[Site]:
    """A site that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="latebind-trust-") as name:
        base = Path(name)
        base.chmod(0o1777)
        yield Site(base, programs)


def run(
    program: Path | str, *arguments: str, user: int = USER, cwd: Path | str = "/", argv0: str = "", **env: str
) -> str:
    """What a program prints for a user, whether it finds a runtime or not."""
    done = subprocess.run(
        [argv0 or str(program), *arguments],
        executable=program,
        user=user,
        group=user,
        extra_groups=[],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout
