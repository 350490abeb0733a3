"""What the .NET tests share: an SDK, stages made of given libraries, and small cases in the consumer's format."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import msgspec
import numpy as np
import onnx
from onnx import TensorProto, helper

from latebind.build.stage import Stage, open_stage, write_manifest
from latebind.config.config import Config
from latebind.config.document import Document
from latebind.ecosystems.nuget.dotnet_project import DotnetConsumer, build_consumer, run_built
from latebind.verify.run.bench import failing_at
from loadcheck.model import Rid
from testing.needs import dotnet_environment, with_mono
from tests.client import rewritten
from tests.conftest import ROOT
from tests.programs import run_checked

LATENN = ROOT / "latenn"
SMOKE = LATENN / "verify" / "Smoke"
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
    write_manifest(folder, rid=Rid(rid), key="k", source_hash="s", toolchain="host", floor="2.28")
    stage = open_stage(folder)
    assert stage is not None
    return stage


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
    """latenn's consumer of packages, and of a runtime (version, package)."""
    version, package = runtime or ("", None)
    defaults = {
        "project": SMOKE,
        "packages": [*packages, *([package] if package else [])],
        "version": VERSION,
        "environment": dotnet_environment(),
        "runtime_version": version,
    }
    made_for = DotnetConsumer(**defaults | changes)
    if made_for.layout.start != "mono" or "environment" in changes:
        return made_for
    return replace(made_for, environment=with_mono(made_for.environment))


def run_smoke(made_for: DotnetConsumer, cases: Path, work: Path, **more: object) -> SimpleNamespace:
    """Build and run a consumer: `status`, `output`, `made`, and `document`, what it wrote."""
    with failing_at("install"):
        built = build_consumer(made_for, work, log=more.get("log"))
    ended = run_built(made_for, built, cases, work, **more)
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


@cache
def case_files() -> ModuleType:
    """latenn/verify/case_files.py, which is not part of a package."""
    spec = importlib.util.spec_from_file_location("latenn_case_files", LATENN / "verify" / "case_files.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class CaseWriter:
    """Writes the input of the consumers."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._cases: list[dict[str, object]] = []

    def add(self, name: str, model: bytes, inputs: list[tuple], outputs: list[tuple]) -> None:
        """A case with one set of inputs and outputs, each (name, type, array)."""
        sets = [
            {
                "inputs": [self._tensor(*tensor) for tensor in inputs],
                "outputs": [self._tensor(*tensor) for tensor in outputs],
            }
        ]
        self._cases.append({"name": name, "model": self._append(model), "rtol": 1e-3, "atol": 1e-7, "sets": sets})

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        document = {"source": f"onnx {onnx.__version__}", "cases": self._cases}
        (folder / "cases.bin").write_bytes(self._data)
        case_files().write_cases(folder, document)
        return folder

    def _append(self, data: bytes) -> list[int]:
        span = [len(self._data), len(data)]
        self._data += data
        return span

    def _tensor(self, name: str, type_: int, array: np.ndarray) -> dict[str, object]:
        tensor = {"name": name, "type": type_, "shape": list(array.shape), "offsets": None}
        if type_ != TensorProto.STRING:
            return tensor | {"data": self._append(np.ascontiguousarray(array).tobytes())}
        texts = [text.encode() for text in array.ravel()]
        offsets = np.cumsum([0, *map(len, texts)]).astype("<i8")
        return tensor | {"data": self._append(b"".join(texts)), "offsets": self._append(offsets.tobytes())}


def identity_model(type_: int, shape: list[object]) -> bytes:
    """y = Identity(x)."""
    ports = [helper.make_tensor_value_info(name, type_, shape) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "test", ports[:1], ports[1:])
    opsets = [helper.make_opsetid("", 19)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def small_cases(folder: Path) -> Path:
    """Identity for every type that ONNX Runtime and NumPy share, texts, a scalar, an empty tensor."""
    cases = CaseWriter()
    for type_, dtype in NUMERIC.items():
        array = (np.arange(12).reshape(3, 4) % 2).astype(dtype)
        cases.add(f"identity_{type_}", identity_model(type_, ["n", 4]), [("x", type_, array)], [("y", type_, array)])
    odd = {
        "text": (TensorProto.STRING, np.array([["héllo", ""], ["日本", "a\0b"]], object)),
        "scalar": (TensorProto.FLOAT, np.array(3, "f4")),
        "empty": (TensorProto.INT64, np.zeros((0, 4), "i8")),
        "special": (TensorProto.FLOAT, np.array([np.nan, np.inf, -np.inf, -0.0], "f4")),
    }
    for name, (type_, array) in odd.items():
        model = identity_model(type_, list(array.shape))
        cases.add(name, model, [("x", type_, array)], [("y", type_, array)])
    return cases.write(folder)


def spoiled_cases(cases: Path, folder: Path) -> Path:
    """The small cases with a wrong number in what the first one expects."""
    shutil.copytree(cases, folder)
    document = json.loads((cases / "cases.json").read_bytes())
    data = bytearray((cases / "cases.bin").read_bytes())
    data[document["cases"][0]["sets"][0]["outputs"][0]["data"][0] + 3] ^= 0x40
    (folder / "cases.bin").write_bytes(data)
    return folder


NUMERIC = {number: helper.tensor_dtype_to_np_dtype(number).name for number in (*range(1, 8), *range(9, 14))}
NUMERIC[TensorProto.BFLOAT16] = "u2"
"""bfloat16 by its bits: Identity does not look at them."""
