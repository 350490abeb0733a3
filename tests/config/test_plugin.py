"""The `ep` table: what it implies, and what is refused."""

import pytest

from latebind.config.file import load
from latebind.errors import ConfigError
from tests.support.epclient import CONFIG, EP, write_ep


def test_an_ep_implies_exports_wheel_package_and_runtime(tmp_path):
    config = load(write_ep(tmp_path) / "latebind.toml")
    package = config.packages["tiny"]
    assert package.exports == ("CreateEpFactories", "ReleaseEpFactory")
    assert config.wheel_name("tiny") == "onnxruntime-ep-tiny-npu"
    assert (package.nuget.id, package.nuget.runtime) == ("Acme.ML.OnnxRuntime.EP.TinyNpu", "")
    assert config.runtime_of("tiny").minimum == "1.23.1"
    assert [version for version in ("1.25.0", "1.25.1", "1.24.0", "1.2") if package.ep.excepts(version)] == [
        "1.25.0", "1.25.1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "tiny-npu"', 'id = "Tiny_NPU"', "package.tiny.ep.id cannot be 'Tiny_NPU'"),
        ('"1.23.1"', '"1.22"', "ONNX Runtime 1.22 cannot register an execution provider from Python"),
        ('["1.25"]', '["2.0"]', "'2.0' is not a release of ONNX Runtime"),
        ('"TinyExecutionProvider"', '"Tiny EP"', "'Tiny EP' is not the name of an execution provider"),
        (EP, f'{EP}\nwheel = {{ source = "python" }}', "latebind makes package.tiny.wheel from package.tiny.ep"),
        (EP, f'{EP}\nnuget = {{ id = "A", managed = "net" }}', "latebind generates the assembly of package.tiny"),
        (
            EP,
            f'{EP}\n[[runtime]]\npreset = "onnxruntime"\nminimum = "1.23"',
            "are both in [[runtime]] and in package",
        ),
        (EP, f'{EP}\nnpm = {{ name = "a" }}', "which latebind makes for Python and .NET only"),
        (
            EP,
            f"{EP}\n[package.two]\ncomponent = 'two'\nep = {{ id = 'two', names = ['TwoExecutionProvider'] }}",
            "have different minimums",
        ),
        ("Runs models on a tiny NPU", 513 * "x", "project.description has more than 512 characters, which PyPI"),
        (EP, "", "package.tiny.exports is missing"),
    ],
)
def test_a_contradiction_is_refused(tmp_path, old, new, message):
    file = write_ep(tmp_path, config=CONFIG.replace(old, new)) / "latebind.toml"
    with pytest.raises(ConfigError) as caught:
        load(file)
    assert message in str(caught.value)
