"""Files of a wheel are found where real installers put them, and what a library does when it is loaded is seen."""

import base64
import hashlib
import json
import sys
import zipfile

import pytest

from latebind.ecosystems.wheel.environment import _ONLOAD as _PROGRAM
from latebind.ecosystems.wheel.environment import list_installed
from latebind.errors import LatebindError
from latebind.verify.run.installers import find_uv
from tests.support.broken import loading, natives
from tests.support.running import run_checked, run_program

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="not run: the libraries are compiled for Linux")
FILES = {
    "tinyd/__init__.py": b"VALUE = 1\n",
    "tinyd-1.0.data/scripts/tinyd-tool": b"#!python\nprint('a tool')\n",
    "tinyd-1.0.data/scripts/tinyd-shell": b"#!/bin/sh\necho a tool\n",
    "tinyd-1.0.data/headers/tinyd.h": b"int tinyd(void);\n",
    "tinyd-1.0.data/data/share/tinyd/table.txt": b"1 2 3\n",
    "tinyd-1.0.data/purelib/tinyd/pure.py": b"PURE = 1\n",
    "tinyd-1.0.data/platlib/tinyd/plat.py": b"PLAT = 1\n",
    "tinyd-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tinyd\nVersion: 1.0\n",
    "tinyd-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    path = tmp_path_factory.mktemp("wheel") / "tinyd-1.0-py3-none-any.whl"
    rows = [f"{name},sha256={hash_row(data)},{len(data)}" for name, data in FILES.items()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in FILES.items():
            archive.writestr(name, data)
        archive.writestr("tinyd-1.0.dist-info/RECORD", "\n".join([*rows, "tinyd-1.0.dist-info/RECORD,,", ""]))
    return path


def hash_row(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def install(tool, folder, wheel, *, target):
    run_checked(sys.executable, "-m", "virtualenv", "-q", "--no-vcs-ignore", folder / "env")
    python = folder / "env/bin/python"
    words = ["--target", folder / "target"] if target else []
    if tool == "uv":
        run_checked(find_uv(), "pip", "install", "-q", "--python", python, "--no-index", *words, wheel)
    else:
        run_checked(python, "-m", "pip", "install", "-q", "--no-index", *words, wheel)
    return folder / "target" if target else next((folder / "env/lib").glob("python*/site-packages"))


@pytest.mark.parametrize("target", [False, True])
@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_each_file_is_found_and_a_changed_or_removed_one_is_named(wheel, tmp_path, tool, target):
    site = install(tool, tmp_path, wheel, target=target)
    found = dict(list_installed(site, wheel))
    assert found.keys() == FILES.keys()
    for name in FILES.keys() - {"tinyd-1.0.dist-info/METADATA", "tinyd-1.0.dist-info/WHEEL"}:
        data = found[name].read_bytes()
        found[name].unlink()  # uv links it to its cache
        with pytest.raises(LatebindError, match=f"{name} of tinyd-1.0-py3-none-any.whl is not installed, or differs"):
            list(list_installed(site, wheel))
        found[name].write_bytes(data + b"\0")
        with pytest.raises(LatebindError, match="is not installed, or differs"):
            list(list_installed(site, wheel))
        found[name].write_bytes(data)
    assert len(list(list_installed(site, wheel))) == len(FILES)


def load_library(folder, source):
    """What was printed, the status, and what had changed; None when the process did not get so far."""
    library, out = folder / "liblatenn_helper.so", folder / "changed.json"
    library.write_bytes(natives.compile_library(source))
    ended = run_program(sys.executable, "-I", _PROGRAM, out, library)
    changed = json.loads(out.read_text("utf-8")) if out.is_file() else None
    return ended.stdout + ended.stderr, ended.returncode, changed


@pytest.mark.parametrize(
    ("source", "printed", "status", "changed"),
    [
        ("int latenn_version(void) { return 1; }\n", "", 0, []),
        (loading._PRINTS, "latenn 0.1.0 loaded\n", 0, []),
        (loading._ENDS, "", 0, None),
        (loading._CRASHES, "", -11, None),
        (loading._ROUNDS, "", 0, ["how numbers are rounded"]),
        (loading._FLUSHES, "", 0, ["how denormal numbers are computed"]),
        (loading._HANDLES, "", 0, ["which signals are handled"]),
        (loading._SETS, "", 0, ["the environment variables"]),
    ],
)
@LINUX
def test_what_loading_alone_does_is_seen(tmp_path, source, printed, status, changed):
    assert load_library(tmp_path, source) == (printed, status, changed)


@LINUX
def test_what_is_no_library_does_nothing(tmp_path):
    text, out = tmp_path / "a.so", tmp_path / "changed.json"
    text.write_text("a text")
    run_checked(sys.executable, "-I", _PROGRAM, out, text)
    assert json.loads(out.read_text("utf-8")) == []
