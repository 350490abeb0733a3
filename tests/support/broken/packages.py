"""A copy of the project's packages that is about to be broken: finds, reads and rewrites them."""

from __future__ import annotations

import base64
import hashlib
import json
import stat
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from latebind.backend.targets import Rid, target
from latebind.ecosystems.npm.files import npm_file, npm_target
from latebind.system.archive import Entry, write_tar, write_zip
from loadcheck.facts import ZipReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Members = dict[str, bytes]
    """The files of a package by name; whoever breaks it changes them in place."""

CORE, BACKEND = "latenn_core", "latenn_backend_onnxruntime"
_FOLDERS = {CORE: "latenn", BACKEND: "latenn_onnxruntime"}
_NUPKGS = {CORE: "Latenn", BACKEND: "Latenn.OnnxRuntime"}
_NPMS = {CORE: "@latenn/core", BACKEND: "@latenn/onnxruntime"}
VERSION = "0.1.0"
LINUX = "linux-x64"


@dataclass(frozen=True, kw_only=True)
class Packages:
    """The packages of latenn in one folder. `scratch` is where tools may write."""

    folder: Path
    scratch: Path

    def wheel(self, library: str = BACKEND, rid: str = LINUX) -> Path:
        """The wheel that holds a library for a target."""
        tag = _platform(rid)
        (package_file,) = self.folder.glob(f"{_FOLDERS[library]}-*{tag}.whl")
        return package_file

    def nupkg(self, library: str = BACKEND) -> Path:
        """The nupkg that holds a library."""
        (package_file,) = (
            path for path in self.folder.glob("*.nupkg") if path.name.startswith(f"{_NUPKGS[library]}.0")
        )
        return package_file

    def npm(self, library: str = BACKEND, rid: str = "") -> Path:
        """The npm package that holds a library for a target; the main one without a target."""
        name = _NPMS[library]
        return self.folder / npm_file(npm_target(name, rid) if rid else name, VERSION)

    def sdk(self, rid: str = LINUX) -> Path:
        """The SDK archive of a target."""
        (package_file,) = self.folder.glob(f"*-{rid}-sdk.*")
        return package_file

    def native(self, library: str = BACKEND, rid: str = LINUX) -> bytes:
        """The bytes of a native library."""
        with ZipReader(self.wheel(library, rid)) as archive:
            return archive.read(in_wheel(library, rid))

    def edit(self, path: Path, change: Callable[[Members], object], *, name: str = "", record: bool = True) -> None:
        """Write a package anew after a change of its members, under another `name` when it is given.

        A wheel's RECORD is made to fit unless `record` is false: who breaks a wheel by hand forgets it, but what a
        build or a repair tool breaks has a good one.
        """
        members, links = _read_members(path)
        change(members)
        if path.suffix == ".whl" and record:
            _record(members)
        if name:
            path.unlink()
        modes = dict.fromkeys(links, stat.S_IFLNK | 0o777)
        entries = [Entry(name=key, data=data, mode=modes.get(key, 0o644)) for key, data in members.items()]
        write = write_tar if path.suffix in (".tgz", ".gz") else write_zip
        write(path.with_name(name or path.name), entries)

    def replace(self, make: Callable[[bytes], bytes], library: str = BACKEND, rid: str = LINUX) -> None:
        """Change a native library, in wheel and nupkg alike: as if it had been built so."""
        data = make(self.native(library, rid))
        self.edit(self.wheel(library, rid), lambda members: members.update({in_wheel(library, rid): data}))
        self.edit(self.nupkg(library), lambda members: members.update({in_nupkg(library, rid): data}))

    def beside(self, name: str, data: bytes, rid: str = LINUX) -> None:
        """Put another native file next to the backend, in wheel and nupkg alike."""
        self.edit(self.wheel(BACKEND, rid), lambda members: members.update({f"{_FOLDERS[BACKEND]}/{name}": data}))
        self.edit(self.nupkg(BACKEND), lambda members: members.update({f"runtimes/{rid}/native/{name}": data}))


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way in which packages are broken after the build: a row of the page sabotage.md."""

    name: str
    title: str
    """What is wrong, in a few words."""
    breaks: Callable[[Packages], object]
    target: str = LINUX
    """Whose programs would meet it; where those do not run here, the audit alone can say something."""
    among: tuple[str, ...] = (".whl", ".nupkg")
    """How the files that it is tried with end: what it breaks, and what that is compared with."""
    is_hygiene: bool = False
    """Nothing fails for anybody: a note of the audit is enough."""


def file_name(library: str, rid: str = LINUX) -> str:
    """`liblatenn_core.so`, `latenn_core.dll`."""
    system = target(Rid(rid)).system
    prefix, suffix = {"linux": ("lib", ".so"), "macos": ("lib", ".dylib"), "windows": ("", ".dll")}[system]
    return f"{prefix}{library}{suffix}"


def in_wheel(library: str, rid: str = LINUX) -> str:
    """Where a library lies in its wheel."""
    return f"{_FOLDERS[library]}/{file_name(library, rid)}"


def in_nupkg(library: str, rid: str = LINUX) -> str:
    """Where a library lies in its nupkg."""
    return f"runtimes/{rid}/native/{file_name(library, rid)}"


def dist_info(members: Members, name: str) -> str:
    """The full name of a file of .dist-info."""
    return next(member for member in members if member.endswith(f".dist-info/{name}"))


def nuspec(members: Members) -> str:
    """The name of the nuspec."""
    return next(member for member in members if member.endswith(".nuspec") and "/" not in member)


def swap(members: Members, name: str, old: str, new: str) -> None:
    """Replace a text in a member. Raises ValueError where it is not, so that no way to break goes stale unseen."""
    if old.encode() not in members[name]:
        raise ValueError(f"{name} does not hold {old!r}")
    members[name] = members[name].replace(old.encode(), new.encode())


def swap_in(end: str, old: str, new: str) -> Callable[[Members], object]:
    """Replace a text in each member whose name ends so, of which there is one at least."""

    def change(members: Members) -> None:
        for name in [name for name in members if name.endswith(end)] or [end]:
            swap(members, name, old, new)

    return change


def in_json(name: str, **changes: object) -> Callable[[Members], object]:
    """Other values of keys in a JSON file; None removes a key."""

    def change(members: Members) -> None:
        fields: dict[str, Any] = {**json.loads(members[name]), **changes}
        members[name] = json.dumps({key: value for key, value in fields.items() if value is not None}).encode()

    return change


def _read_members(path: Path) -> tuple[Members, list[str]]:
    """The files of a package, and which of them are links: their bytes are the target."""
    if path.suffix not in (".tgz", ".gz"):
        with ZipReader(path) as archive:
            return {member.name: archive.read(member.name) for member in archive.members}, []
    members, links = {}, []
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member) if member.isreg() else None
            members[member.name] = file.read() if file else member.linkname.encode()
            links += [member.name] if member.issym() else []
    return members, links


def _platform(rid: str) -> str:
    patterns = {"linux-x64": "manylinux*x86_64", "linux-arm64": "manylinux*aarch64", "osx-arm64": "macosx*arm64"}
    return {**patterns, "osx-x64": "macosx*x86_64", "win-x64": "win_amd64", "win-arm64": "win_arm64"}[rid]


def _record(members: Members) -> None:
    name = dist_info(members, "RECORD")
    lines = [f"{key},sha256={digest(data)},{len(data)}" for key, data in sorted(members.items()) if key != name]
    members[name] = "".join(f"{line}\n" for line in [*lines, f"{name},,"]).encode()


def digest(data: bytes) -> str:
    """A hash as RECORD writes it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
