"""Makes a small Debian in a folder, and runs programs in it: another user space on this very kernel, and no emulator.

Each run has mounts of its own. In it, the folders of this computer that a Debian does not have, and /tmp, keep their
paths; its programs and libraries are out of sight. Root alone may do that.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci.machines import NotAvailableError, make_once, run_tool
from ci.machines.debian import unpack
from ci.machines.emulator import Emulator, Group, Limits, inherit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MISLEADING = ("LD_",)
"""How variables of this system begin that its programs must not get."""
_PYTHON = ("python{0}-minimal", "libpython{0}-minimal", "libpython{0}-stdlib")
_SHARED = (
    *("libc6", "libgcc-s1", "libstdc++6", "zlib1g", "libexpat1", "libbz2-1.0", "liblzma5", "libuuid1", "libcrypt1"),
    *("libsqlite3-0", "libdb5.3", "libtinfo6", "libncursesw6", "libreadline8", "media-types"),
    *("dash", "coreutils", "libselinux1", "libpcre2-8-0", "libacl1", "libattr1", "libgmp10"),
)
_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "ssl/certs/ca-certificates.crt")
"""What a program needs to reach a package index: files of /etc."""
_OWN = frozenset(
    ("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "sys", "usr", "var")
)
"""The folders of a Debian; all others are those of this computer."""
_UNSHARE = "/usr/bin/unshare"
_SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_ENTER = """\
root=$1; path=$2; shift 2
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev"
for folder in $FOLDERS; do mkdir -p "$root/$folder"; mount --rbind "/$folder" "$root/$folder"; done
unset FOLDERS
exec chroot "$root" /bin/sh -c 'cd "$0" && export PATH="$1" && shift && exec "$@"' "$PWD" "$path" "$@"
"""


@dataclass(frozen=True)
class Debian:
    """A Debian: its suite, its C library, its CPython, and the packages that differ from one to the next."""

    suite: str
    glibc: str
    python: str
    packages: tuple[str, ...]


SYSTEMS = {
    "debian11": Debian("bullseye", "2.31", "3.9", ("libssl1.1", "libffi7", "libmpdec3")),
    "debian12": Debian("bookworm", "2.36", "3.11", ("libssl3", "libffi8")),
}


@dataclass
class Chroot(Emulator):
    """A root folder that is ready, and the processes that run in it."""

    root: Path
    python: Path

    def command(
        self, program: Path, arguments: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """`unshare` gives the program mounts of its own; `chroot` shows it the root folder."""
        enter: list[str | Path] = [_UNSHARE, "--mount", "--", "/bin/sh", "-euc", _ENTER, "sh", self.root]
        variables = {**inherit("LANG", "TMPDIR"), **env, "PATH": _SYSTEM_PATH, "FOLDERS": " ".join(_list_own_folders())}
        return [*enter, env.get("PATH", _SYSTEM_PATH), program, *arguments], variables


def prepare(dest: Path, limits: Limits | None = None, name: str = "debian12") -> Chroot:
    """The root folder in `dest`, made when it is not there yet.

    Raises NotAvailableError for a user other than root, on another processor, and without unshare, apt-get or a mirror.
    """
    if platform.machine() != "x86_64" or not hasattr(os, "geteuid"):
        raise NotAvailableError("the folder is for Linux on x64")
    if os.geteuid() != 0 or not Path(_UNSHARE).is_file():
        raise NotAvailableError("only root may run programs in another root folder, with unshare")
    run_tool([_UNSHARE, "--mount", "--", "mount", "-t", "proc", "proc", "/proc"])  # a container may forbid it
    system = SYSTEMS[name]

    def make(root: Path) -> None:
        python = [template.format(system.python) for template in _PYTHON]
        unpack([*python, *_SHARED, *system.packages], root, suite=system.suite, architecture="amd64")
        for folder in ("dev", "proc"):
            (root / folder).mkdir(exist_ok=True)
        if not (root / "bin/sh").exists():
            (root / "bin/sh").symlink_to("dash")
        (root / "usr/bin/python3").symlink_to(f"python{system.python}")
        for file in _NETWORK:
            if (Path("/etc") / file).is_file():
                (root / "etc" / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(Path("/etc") / file, root / "etc" / file)

    root = make_once(dest.absolute() / "root", make)
    return Chroot(Group(limits), root, root / "usr/bin" / f"python{system.python}")


@contextlib.contextmanager
def open_debian11(dest: Path, limits: Limits | None = None) -> Iterator[Chroot]:
    """The oldest Debian; all that it runs ends with the block."""
    emulator = prepare(dest, limits, "debian11")
    try:
        yield emulator
    finally:
        emulator.close()


def _list_own_folders() -> list[str]:
    """The names of this computer's folders that its programs see in another root, too."""
    return sorted(
        path.name for path in Path("/").iterdir() if path.is_dir() and path.name not in _OWN and " " not in path.name
    )
