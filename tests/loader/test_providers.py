"""The example of an execution provider in latebind's host in C: with a real runtime here, and a small one elsewhere.

The small runtime runs on systems where no real one does, so there it is the provider's machine code that is tried.
"""

import json
import shutil

import pytest

from latebind.backend.targets import Rid, target
from latebind.config.project import read_project
from latebind.native.nativebuild import native_build
from tests.support.building import ROOT
from tests.support.client import edit
from tests.support.needs import official_header
from tests.support.small_runtime import SYSTEMS, VERSION, only_small, open_host

pytestmark = pytest.mark.slow
NAME = "TinyExecutionProvider"
LIBRARIES = (".so", ".dylib", ".dll")
FAULTS = {
    "computes something else": (
        "from[0][i] * from[1][i]", "from[0][i] + from[1][i]", "element 0 of Relu(a * b) is 3, expected 2"),
    "takes no node": ("if (!failed && ours)", "if (!failed && !ours)", "no kernel for .Mul"),
    "has no device for the processor": (
        "OrtHardwareDeviceType_CPU)", "OrtHardwareDeviceType_GPU)", "the provider has no device here"),
    "has two names": (
        "ep_name(const OrtEp* self) {\n  return (void)self, LATEBIND_EP_NAME",
        'ep_name(const OrtEp* self) {\n  return (void)self, "Other"', "the provider and its factory have two names"),
}  # fmt: skip
"""What is changed in the example's code, and what the host says then."""


@pytest.fixture(scope="module", params=SYSTEMS)
def host(request, shared_folder):
    with open_host(request.param, shared_folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def build_provider(host, shared_folder, tmp_path_factory):
    """Builds the example for the host's system as `latebind build` does, with a change of its code."""

    def build(old="", new=""):
        project = tmp_path_factory.mktemp("provider") / "ep-tiny"
        shutil.copytree(ROOT / "examples" / "ep-tiny", project)
        shutil.copytree(official_header(shared_folder, "newest").parent, project / "native" / "include")
        if old:
            edit(project / "native" / "tiny_ep.c", old, new)
        native = native_build(read_project(project / "latebind.toml", project / "build"), target(Rid(host.rid)))
        native.install(project / "installed")
        (library,) = (path for path in (project / "installed").rglob("*tiny_ep.*") if path.suffix in LIBRARIES)
        return library

    return build


@pytest.fixture(scope="module")
def provider(build_provider):
    return build_provider()


def run(host, library, folder, *names, **environment):
    """What the host in C wrote, and its steps. It ends by itself, after it has released everything."""
    result = folder / "result.json"
    arguments = (host.runtime, library, NAME, result, *(names or (NAME,)))
    status, _, errors = host.run(host.tree / "host" / f"consumer{host.suffix}", *arguments, **environment)
    assert errors.splitlines()[-1] == "host.c: ending the process"
    return status, json.loads(result.read_text("utf-8").replace("\\", "/")), errors


def test_a_provider_registers_computes_and_is_released(host, provider, tmp_path):
    status, answer, errors = run(host, provider, tmp_path)
    assert answer.get("passed") == ["c-host"], answer
    assert status == 0
    steps = [line.partition(": ")[2] for line in errors.splitlines()]
    assert steps.index("registering the provider") < steps.index("running the session")
    assert steps[-3:] == ["unregistering the provider", "releasing the environment", "ending the process"]


@only_small
@pytest.mark.parametrize("version", ["1.23.0", "1.23.2", "1.24.1", "1.27.0"])
def test_a_provider_computes_with_every_version_from_its_minimum_on(host, provider, tmp_path, version):
    status, answer, _ = run(host, provider, tmp_path, **{VERSION: version})
    assert (status, answer["passed"], answer["report"]["version"]) == (0, ["c-host"], version)


@only_small
def test_a_runtime_that_is_too_old_is_refused_in_words(host, provider, tmp_path):
    status, answer, _ = run(host, provider, tmp_path, **{VERSION: "1.22.1"})
    says = f"registering the provider: {NAME} 0.1.0 needs ONNX Runtime 1.23 or newer; this is 1.22.1"
    assert (status, answer["failed"][0]["message"]) == (1, says)


@only_small
@pytest.mark.parametrize("version", ["1.21.0", "2.0.0", "unversioned"])
def test_a_runtime_that_registers_no_plugins_is_not_asked(host, provider, tmp_path, version):
    status, answer, _ = run(host, provider, tmp_path, **{VERSION: version})
    assert (status, answer["error"]["message"]) == (3, "opening the runtime: it registers no plugins")


def test_a_name_that_the_package_does_not_give_is_a_fault(host, provider, tmp_path):
    status, answer, _ = run(host, provider, tmp_path, "OtherExecutionProvider")
    assert status == 1
    assert f"a device is for {NAME}, which the package does not name" in answer["failed"][0]["message"]


def test_a_file_that_is_no_provider_is_refused(host, tmp_path):
    status, answer, _ = run(host, host.runtime, tmp_path)
    assert status == 1
    assert answer["failed"][0]["message"].startswith("registering the provider: ")


@only_small
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_provider_is_told(host, build_provider, tmp_path, fault):
    old, new, says = FAULTS[fault]
    _, answer, _ = run(host, build_provider(old, new), tmp_path)
    assert "passed" not in answer
    assert says in json.dumps(answer)
