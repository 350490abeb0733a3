"""Imports what a wheel or an npm package contains, without a network and as a user with no rights.

The packages are drawn at random, so their code is untrusted: it runs in a network namespace of its own (`unshare`) as
`nobody` (`setpriv`), with a time limit. Only root can start such processes.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

from packaging.utils import parse_wheel_filename

_SECONDS = 120
_NOBODY = "65534"
_SANDBOX = ("unshare", "--net", "setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups")
_MODULE = re.compile(r"(?P<name>[A-Za-z_]\w*(/[A-Za-z_]\w*)*)\.(cpython-\d+t?-x86_64-linux-(gnu|musl)|abi3)?\.?so")
_IMPORT = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\n"
_BLAMED = re.compile(r"(?i)undefined symbol|cannot open shared object|\bGLIBC|GLIBCXX|invalid ELF|DLL load failed")


def import_wheel(path: Path) -> str:
    """What fails when the extension modules of a wheel are imported; "" for nothing.

    A missing Python package isn't the wheel's fault: only what the dynamic linker reports counts. Returns a text that
    begins with "not run" if this machine can't import the wheel.
    """
    python = find_python(path.name)
    if python is None:
        return "not run: no interpreter here accepts its tags"
    if not _starts(python):
        return f"not run: nobody can't start {python.name} here, set LATEBIND_PYTHONS"
    modules = sorted({name for name in map(_module_name, _list_members(path)) if name})
    if not modules:
        return "not run: no extension module"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        installed = _run(["uv", "pip", "install", "--quiet", "--only-binary=:all:", "--link-mode=copy",
                          f"--python={python}", f"--target={folder}/site", str(path)])  # fmt: skip
        if installed.returncode:
            return f"not run: {_last_line(installed.stderr)}"
        return _import_modules(python, Path(folder) / "site", modules)


def _import_modules(python: Path, site: Path, modules: list[str]) -> str:
    failures = []
    for module in modules:
        ended = _run_untrusted([str(python), "-c", _IMPORT, module], {"PYTHONPATH": str(site), "HOME": "/nonexistent"})
        if ended.returncode < 0 or ended.returncode > 128:  # noqa: PLR2004 -- a shell's status of a signal
            failures.append(f"{module}: ended by a signal ({ended.returncode})")
        elif ended.returncode and _BLAMED.search(line := _last_line(ended.stderr)):
            failures.append(f"{module}: {line.replace(str(site), '')}")
    return "; ".join(failures)


@functools.cache
def find_python(name: str) -> Path | None:
    """An interpreter of this machine that accepts a wheel for x64 with glibc, by the wheel's file name."""
    tags = parse_wheel_filename(name)[3]
    if not any("linux" in tag.platform and tag.platform.endswith("x86_64") for tag in tags) or "musllinux" in name:
        return None
    for tag in sorted(tags, key=str):
        if match := re.fullmatch(r"(?:cp|py)3(\d*)", tag.interpreter):
            minor = match[1] or "11"
            newer = [f"3.{minor}", *(["3.11", "3.12"] if tag.abi in {"abi3", "none"} else [])]
            if interpreters := [python for version in newer if (python := _interpreter(version))]:
                return interpreters[0]
    return None


@functools.cache
def _starts(python: Path) -> bool:
    """Whether an interpreter starts in the sandbox: if nobody can't read its folder, each import would fail."""
    return _run_untrusted([str(python), "-c", ""], {"HOME": "/nonexistent"}).returncode == 0


@functools.cache
def _interpreter(version: str) -> Path | None:
    folder = Path(os.environ.get("LATEBIND_PYTHONS") or Path.home() / ".pyenv" / "versions")
    fits = sorted(folder.glob(f"{version}.*/bin/python{version}"))
    return fits[-1] if fits else None


def load_addons(archive: Path) -> str:
    """What fails when Node.js loads the addons of an npm package for this platform; "" for nothing."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive) as members:
        Path(folder).chmod(0o755)
        members.extractall(folder, filter="data")
        addons = [path for path in sorted(Path(folder).rglob("*.node")) if _is_for_this_machine(path)]
        if not addons:
            return "not run: no addon for this machine"
        failures = []
        for addon in addons:
            ended = _run_untrusted(["node", "-e", f"require({str(addon)!r})"], {"HOME": "/nonexistent"}, folder)
            errors = [line for line in ended.stderr.splitlines() if re.match(r"\w*Error", line)]
            if ended.returncode:
                text = errors[0] if errors else f"ended with {ended.returncode}"
                failures.append(f"{addon.name}: {text.replace(folder, '')}")
    return "; ".join(failures)


def _is_for_this_machine(addon: Path) -> bool:
    head = addon.read_bytes()[:20]
    return head[:4] == b"\x7fELF" and head[18:20] == b"\x3e\x00" and "musl" not in str(addon)


def download_npm(name: str, folder: Path) -> Path | None:
    """The newest archive of an npm package; None if it can't be had."""
    packed = _run(["npm", "pack", "--silent", f"--pack-destination={folder}", name])
    return folder / _last_line(packed.stdout) if packed.returncode == 0 and packed.stdout.strip() else None


def _list_members(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def _module_name(member: str) -> str:
    match = _MODULE.fullmatch(re.sub(r"^[^/]+\.data/(plat|pure)lib/", "", member))
    return match["name"].replace("/", ".") if match and not match["name"].rpartition("/")[2].startswith("lib") else ""


def _run_untrusted(
    command: list[str], environment: dict[str, str], folder: str | None = None
) -> subprocess.CompletedProcess[str]:
    if os.geteuid() or not shutil.which("setpriv"):
        raise SystemExit("untrusted packages are imported as nobody: run this as root, with setpriv installed")
    return _run([*_SANDBOX, *command], {"PATH": os.defpath, **environment}, folder)


def _run(
    command: list[str], environment: dict[str, str] | None = None, folder: str | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, check=False, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
            timeout=_SECONDS, env=environment, cwd=folder,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 0, "", f"not finished in {_SECONDS} s")


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")[:300]
