"""What appears on the index after a project was configured: nothing fails that isn't wrong, and news are reported."""

import json

import pytest

from latebind.backend.targets import host_rid
from latebind.tables.presets import preset
from tests.support.client import edit
from tests.support.running import assert_success
from tests.verify.release_index import serve, unpack_runtime, write_index, write_runtime_wheel, write_wheel

pytestmark = pytest.mark.slow

VERIFY = """\
at_least = { "1.31" = 10, "1.32" = 13 }
data = { script = "verify/data/cases.py", requires = { "1.31" = ["onnx==1.16.2"], "1.32" = ["onnx==1.22.0"] } }
required = ["*/works"]
"""
CASES = """\
import json, pathlib, sys

import onnx

(pathlib.Path(sys.argv[1]) / "cases.json").write_text(json.dumps(list(onnx.NAMES)))
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """The address of the index, and the folder that it serves, with one day for each step below."""
    root = tmp_path_factory.mktemp("index")
    unpacked = unpack_runtime(root / "unpacked")
    folder = root / "wheels"
    runtimes = {v: write_runtime_wheel(unpacked, folder, v) for v in ("1.31.1", "1.32.0", "1.32.1", "1.33.0", "1.33.1")}
    runtimes["1.34.0"] = write_runtime_wheel(unpacked, folder, "1.34.0", truncated=True)
    data = {
        version: write_wheel(folder, "onnx", version, "py3-none-any", {"onnx.py": f"NAMES = {names}\n".encode()})
        for version, names in {"1.16.2": [*"abcdefghij"], "1.22.0": [*"abcdefghijklm"], "1.23.0": [*"xyz"]}.items()
    }
    first = [runtimes["1.31.1"], runtimes["1.32.0"], data["1.16.2"], data["1.22.0"]]
    second = [*first, *(runtimes[version] for version in ("1.32.1", "1.33.0", "1.33.1")), data["1.23.0"]]
    write_index(root, "first", first)
    write_index(root, "second", second, yanked=("1.33.1",))
    candidate = write_runtime_wheel(unpacked, folder, "1.35.0", suffix="rc1", truncated=True)
    write_index(root, "candidate", [*first, candidate])
    write_index(root, "third", [*second, runtimes["1.34.0"]], yanked=("1.33.1",))
    with serve(root) as address:
        yield address


@pytest.fixture
def verify_on_day(latebind, index, tmp_path):
    """`latebind verify --all` and `gate` of a new project on a day of the index."""
    assert_success(latebind("-C", tmp_path, "new", "demo"))
    project = tmp_path / "demo"
    edit(project / "latebind.toml", '["linux-x64", "linux-arm64", "osx-arm64", "win-x64"]', f'["{host_rid()}"]')
    edit(project / "latebind.toml", 'minimum = "1.19"', 'minimum = "1.31"')
    edit(project / "latebind.toml", 'c = "verify/c"\n', VERIFY)
    with (project / "latebind.toml").open("a", encoding="utf-8") as file:
        file.write(
            '\n[release]\nunverified = { nupkg = "its consumer is left out here", sdist = "this chooses test cases" }\n'
        )
    (project / "verify" / "data").mkdir()
    (project / "verify" / "data" / "cases.py").write_text(CASES, encoding="utf-8")
    smoke = project / "verify" / "smoke.py"
    edit(
        smoke,
        '    parser.add_argument("--out", type=Path)\n',
        '    for name in ("--out", "--cases"):\n        parser.add_argument(name, type=Path)\n',
    )
    edit(smoke, '["doubles"] if right else []', 'json.loads((given.cases / "cases.json").read_text()) if right else []')

    def run(day, *options):
        environment = {"UV_DEFAULT_INDEX": f"{index}/{day}/simple", "UV_CACHE_DIR": str(tmp_path / "cache")}
        ended = latebind("-C", project, "verify", "--all", "-k", "works", *options, env=environment)
        report = json.loads((project / "reports" / "verify.json").read_text("utf-8"))
        outcomes = {(case["runtime"], case["version"]): case["outcome"] for case in report["cases"]}
        passed = {case["version"]: case["facts"]["passed"] for case in report["cases"] if case["outcome"] == "passed"}
        return ended, outcomes, passed, latebind("-C", project, "gate")

    return run


def test_new_releases_fail_nothing_and_are_reported(verify_on_day):
    ended, _, passed, gate = verify_on_day("first")
    assert_success(ended)
    assert passed == {"1.31.1": 10, "1.32.0": 13}
    assert "Gate passed: 2 of 2 required test cases." in assert_success(gate)

    ended, outcomes, passed, gate = verify_on_day("second")
    assert_success(ended)
    assert passed == {"1.31.1": 10, "1.32.1": 13, "1.33.0": 13}
    assert ("onnxruntime", "1.33.1") not in outcomes
    built = preset("onnxruntime").built
    assert f"New: onnxruntime 1.33.0, which passed; latebind was tried with versions up to {built}." in ended.stdout
    assert "Gate passed: 3 of 3 required test cases." in assert_success(gate)


def test_a_new_release_that_is_broken_fails(verify_on_day):
    ended, outcomes, passed, gate = verify_on_day("third")
    assert ended.returncode == 1
    assert {key for key, outcome in outcomes.items() if outcome == "failed"} == {("onnxruntime", "1.34.0")}
    assert passed == {"1.31.1": 10, "1.32.1": 13, "1.33.0": 13}
    assert "New: onnxruntime 1.34.0, with failures" in ended.stdout
    assert gate.returncode == 1


def test_a_prerelease_is_tried_when_asked_for_and_fails_the_gate(verify_on_day):
    ended, outcomes, _, _ = verify_on_day("candidate")
    assert_success(ended)
    assert ("onnxruntime", "1.35.0rc1") not in outcomes

    ended, outcomes, passed, gate = verify_on_day("candidate", "--prereleases")
    assert ended.returncode == 1
    assert outcomes["onnxruntime", "1.35.0rc1"] == "failed"
    assert passed == {"1.31.1": 10, "1.32.0": 13}
    assert gate.returncode == 1
    assert "1.35.0rc1" in gate.stdout

    ended, outcomes, _, gate = verify_on_day("first", "--prereleases")
    assert {version for name, version in outcomes if name == "onnxruntime"} == {"1.31.1", "1.32.0"}
    assert_success(ended)
    assert_success(gate)
