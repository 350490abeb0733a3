"""What the .NET tests share: stages made of given libraries, and the project of tests/clients/dotnet."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec

from latebind.backend.stage import Stage, StageManifest, describe_files, write_manifest
from latebind.backend.targets import Rid
from latebind.config.config import Config
from latebind.config.document import Document
from latebind.ecosystems.nuget.dotnet_project import DotnetConsumer, build_consumer, run_built
from latebind.verify.run.trial import failing_at
from tests.conftest import ROOT
from tests.support.client import rewritten
from tests.support.needs import dotnet_environment, with_mono
from tests.support.running import run_checked

CLIENT = ROOT / "tests/clients/dotnet"
VERSION = "0.1.0"
RID = Rid("linux-x64")


def make_stage(root: Path, libraries: dict[str, list[Path]], rid: str = RID) -> Stage:
    """A stage whose components hold copies of the libraries."""
    folder = root / rid
    for component, files in libraries.items():
        target = folder / component / "lib"
        target.mkdir(parents=True)
        for file in files:
            shutil.copyfile(file, target / file.name)
    return write_stage(folder, rid)


def write_stage(folder: Path, rid: str = RID) -> Stage:
    """A stage of the files below a folder."""
    about = {"rid": Rid(rid), "key": "k", "source_hash": "s", "toolchain": "host", "floor": "2.28"}
    return write_manifest(folder, StageManifest(**about, files=describe_files(folder)))


def make_config(root: Path, **changes: object) -> Config:
    """A configuration of two packages, `core` and `extra`, whose tables take the changes."""
    project = {
        "name": "demo",
        "version": "0.1.0",
        "description": "A demo <&> more",
        "license": "MIT",
        "authors": ["Ann", "Bo"],
        "repository": "https://example.org/demo",
    }
    document = {
        "project": project | changes.pop("project", {}),
        "targets": {"include": [RID]},
        "runtime": [{"preset": "onnxruntime", "minimum": "1.19"}],
        "package": {
            "core": {"component": "core", "exports": ["demo_*"], "nuget": {"id": "Demo"} | changes.pop("core", {})},
            "extra": {
                "component": "extra",
                "exports": ["demo_*"],
                "requires": ["core"],
                "runtime": "onnxruntime",
                "nuget": {"id": "Demo.Extra", "tags": ["onnx", "native"]} | changes.pop("extra", {}),
            },
        },
    }
    return Config(root=root, file=root / "latebind.toml", document=msgspec.convert(document, type=Document))


def consumer(packages: list[Path], runtime: tuple[str, Path] | None = None, **changes: object) -> DotnetConsumer:
    """The client's consumer of packages, and of a runtime (version, package)."""
    version, package = runtime or ("", None)
    defaults = {
        "project": CLIENT / "Smoke",
        "packages": [*packages, *([package] if package else [])],
        "version": VERSION,
        "environment": dotnet_environment(),
        "runtime_version": version,
    }
    made_for = DotnetConsumer(**defaults | changes)
    if made_for.layout.start != "mono" or "environment" in changes:
        return made_for
    return replace(made_for, environment=with_mono(made_for.environment))


def run_smoke(made_for: DotnetConsumer, work: Path, **more: object) -> SimpleNamespace:
    """Build and run a consumer: `status`, `output`, `made`, and `document`, what it wrote."""
    with failing_at("install"):
        built = build_consumer(made_for, work, log=more.get("log"))
    ended = run_built(made_for, built, work, work, **more)
    text = (work / "answers" / "result.json").read_text("utf-8")
    document = json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields))
    return SimpleNamespace(status=ended.status, output=ended.output, made=built, document=document)


def without(package: Path, part: str, folder: Path) -> Path:
    """The package without the members whose name holds `part`: broken by hand, but a package that restores."""
    return rewritten(package, folder, lambda name, data: None if part in name else (name, data))


def shared_library(library: Path, source: Path | str, *arguments: str) -> Path:
    """A shared library of this machine, of a C file or of C text."""
    library.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(source, str):
        source, text = library.with_suffix(".c"), source
        source.write_text(text, encoding="utf-8")
    compiler = [cc] if (cc := shutil.which("cc")) else [sys.executable, "-m", "ziglang", "cc"]
    run_checked(*compiler, "-shared", "-fPIC", "-o", library, source, *arguments)
    return library


NATIVE_FILES = {
    "linux-x64": "libdemo.so",
    "linux-arm64": "libdemo.so",
    "osx-x64": "libdemo.dylib",
    "osx-arm64": "libdemo.dylib",
    "win-x64": "demo_native.dll",
    "win-arm64": "demo_native.dll",
}


def native_stages(root: Path) -> list[Stage]:
    """A stage for each target with a file that holds the target's name; that of this machine is a library."""
    for rid, name in NATIVE_FILES.items():
        (root / rid).mkdir()
        (root / rid / name).write_text(rid, encoding="utf-8")
    shared_library(root / RID / NATIVE_FILES[RID], "int demo_answer(void) { return 42; }")
    return [make_stage(root / "stage", {"core": [root / rid / name]}, rid) for rid, name in NATIVE_FILES.items()]
