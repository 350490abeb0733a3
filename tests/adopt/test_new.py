"""`latebind new`: a complete project for each language, that builds at once; bad names and full folders are refused."""

import json
import re
import shutil
import sys
import zipfile

import msgspec
import pytest

from latebind.adopt import new
from latebind.adopt.new import check_name, find_own_target, operators_files, project_files, provider_files
from latebind.backend.targets import host_rid
from latebind.config.file import load, tables_of
from latebind.config.schema import SCHEMA_ID
from latebind.errors import InputError
from latebind.release.changelog import find_section
from tests.support.client import edit
from tests.support.needs import official_header
from tests.support.running import assert_refused, assert_success, run_checked

BUILT = ("latebind.toml", "native/CMakeLists.txt", "python/pyproject.toml", "verify/smoke.py", "verify/c/consumer.c")


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_new_project_has_no_finding(latebind, tmp_path, language):
    printed = assert_success(latebind("-C", tmp_path, "new", "my-engine", "--language", language))
    assert "latebind verify" in printed
    project = tmp_path / "my-engine"
    assert all((project / path).is_file() for path in BUILT)

    edit(project / "latebind.toml", "# sdk = true", "sdk = true")
    edit(project / "latebind.toml", "# repository", "repository")
    assert_success(latebind("-C", project, "pack", "--format", "json"))
    audited = latebind("-C", project, "audit", "--format", "json")
    assert json.loads(audited.stdout)["findings"] == []
    names = [path.name for path in (project / "dist").glob("[!.]*")]
    assert len(names) == 4
    (sdk,) = (project / "dist").glob("my-engine-0.1.0-*-sdk.*")
    shutil.unpack_archive(sdk, tmp_path / "sdk")
    assert [path.name for path in (tmp_path / "sdk").rglob("*.pc")] == ["my-engine.pc"]
    assert "my-engine::my_engine" in next((tmp_path / "sdk").rglob("my-engine-config.cmake")).read_text("utf-8")
    assert "my_engine-0.1.0.tar.gz" in names
    assert "MyEngine.0.1.0.nupkg" in names


def test_the_files_are_the_same_for_the_same_name():
    files = project_files("demo", "c", "A Person")
    assert files == project_files("demo", "c", "A Person")
    assert files["latebind.toml"].startswith(f"#:schema {SCHEMA_ID}\n")
    assert msgspec.toml.decode(files["latebind.toml"])["project"]["authors"] == ["A Person"]
    assert files["python/src/demo/py.typed"] == ""
    assert not [path for path, text in files.items() if re.search(r"(?<!\$)\{[{%]|<%|[ \t]$", text, re.MULTILINE)]


def test_the_consumer_takes_the_name_of_a_runtime_for_no_other_argument(tmp_path):
    """`latebind verify` passes --runtime as soon as the project has a second runtime."""
    (tmp_path / "smoke.py").write_text(project_files("demo", "c", "A Person")["verify/smoke.py"], encoding="utf-8")
    model = "class Model:\n    def __init__(self, data): pass\n    def run(self, values): return [2, 4, 7]\n"
    binding = f"def open_runtime(path, minimum): return {{'path': str(path)}}\n{model}"
    (tmp_path / "demo.py").write_text(binding, encoding="utf-8")
    out = tmp_path / "result.json"
    run_checked(sys.executable, tmp_path / "smoke.py", "--out", out, "--runtime", "openvino")
    assert json.loads(out.read_text("utf-8"))["libraries"] == ["None"]


@pytest.mark.builds
def test_a_new_execution_provider_has_the_headers_of_the_nuget_package(latebind, tmp_path):
    header = official_header(tmp_path)
    package = tmp_path / "packages/microsoft.ml.onnxruntime/1.23.0/build/native/include"
    shutil.copytree(header.parent, package)
    edit(package / header.name, "#define ORT_API_VERSION 21", "#define ORT_API_VERSION 23")
    printed = assert_success(
        latebind("-C", tmp_path, "new", "acme-npu", "--kind", "ep", env={"NUGET_PACKAGES": str(tmp_path / "packages")})
    )
    assert "latebind headers" not in printed
    assert (tmp_path / "acme-npu/native/include" / header.name).read_bytes() == (package / header.name).read_bytes()


@pytest.mark.builds
def test_a_new_execution_provider_says_what_it_needs_and_has_one_name_everywhere(latebind, tmp_path):
    printed = assert_success(
        latebind("-C", tmp_path, "new", "acme-npu", "--kind", "ep", env={"PATH": "", "XDG_CACHE_HOME": str(tmp_path)})
    )
    assert "latebind headers onnxruntime 1.23" in printed
    project = tmp_path / "acme-npu"
    config = load(project / "latebind.toml")
    assert config.wheel_name("acme_npu") == "onnxruntime-ep-acme-npu"
    package = config.packages["acme_npu"].nuget.id
    assert package == "AcmeNpu.ML.OnnxRuntime.EP.AcmeNpu"
    assert f'Include="{package}"' in (project / "verify/dotnet/Smoke.csproj").read_text("utf-8")
    assert not [path for path in project.rglob("*") if path.is_file() and "iny" in path.read_text("utf-8")]

    packed = latebind("-C", project, "pack", "--target", "linux-x64")
    assert_refused(packed, "The headers of ONNX Runtime 1.23 or newer are not in native/include")


@pytest.mark.builds
def test_new_custom_operators_say_what_they_need_and_may_choose_their_module(latebind, tmp_path):
    words = ("new", "acme-ops", "--kind", "custom-op", "--module-name", "acme")
    printed = assert_success(latebind("-C", tmp_path, *words, env={"PATH": "", "XDG_CACHE_HOME": str(tmp_path)}))
    assert "latebind headers onnxruntime 1.23" in printed
    project = tmp_path / "acme-ops"
    config = load(project / "latebind.toml")
    assert (config.wheel_name("acme"), config.packages["acme"].nuget.id) == ("acme-ops", "AcmeOps")
    assert config.packages["acme"].wheel.module_name == "acme"
    assert "def get_library_path" in (project / "python/src/acme/__init__.py").read_text("utf-8")
    packed = latebind("-C", project, "pack", "--target", "linux-x64")
    assert_refused(packed, "The headers of ONNX Runtime are not in native/include")


@pytest.mark.builds
def test_a_new_extension_of_torch_says_what_it_needs_and_may_choose_its_module(latebind, tmp_path):
    words = ("new", "acme-ops", "--kind", "torch", "--module-name", "acme")
    alone = {"PATH": "", "XDG_CACHE_HOME": str(tmp_path), "UV_OFFLINE": "1", "UV_CACHE_DIR": str(tmp_path / "uv")}
    printed = assert_success(latebind("-C", tmp_path, *words, env=alone))
    command = "latebind headers torch 2.10 --output native/include"
    assert command in printed
    project = tmp_path / "acme-ops"
    assert 'keywords = ["pytorch", "torch"]' in (project / "python/pyproject.toml").read_text("utf-8")
    assert_refused(latebind("-C", project, "pack", "--target", "linux-x64"), f"run: {command}")
    (project / "native/include").mkdir()
    config = load(project / "latebind.toml")
    assert (config.wheel_name("acme"), config.packages["acme"].wheel.module_name) == ("acme-ops", "acme")


def test_without_zig_a_project_is_for_this_machine_and_its_compiler(monkeypatch, tmp_path):
    assert find_own_target() is None
    monkeypatch.setattr(new, "find_zig", lambda: None)
    own = find_own_target()
    assert own.rid == host_rid()
    for name, text in project_files("demo", "c", "", own=own).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    config = load(tmp_path / "latebind.toml")
    assert (config.document.targets.include, config.toolchain(own.rid)) == ((own.rid,), "host")
    assert config.document.targets.glibc == own.glibc
    monkeypatch.setenv("CC", "no-such-compiler")
    assert find_own_target() is None


@pytest.mark.parametrize("author", ['Quote " Person', "Näme \\ Person", "A Person <a@acme.org>", ""])
def test_any_author_gives_valid_files(author):
    files = project_files("demo", "c++", author)
    assert msgspec.toml.decode(files["latebind.toml"])["project"]["authors"] == [author or "The demo authors"]
    assert f"Copyright (c) {author.partition(' <')[0] or 'The demo authors'}\n" in files["LICENSE"]


@pytest.mark.slow
def test_the_import_name_may_differ_from_the_distributions(latebind, tmp_path):
    """As opencv-python is imported as cv2."""
    assert_success(latebind("-C", tmp_path, "new", "acme-vision", "--module-name", "vision"))
    project = tmp_path / "acme-vision"
    assert load(project / "latebind.toml").module_name("vision") == "vision"
    assert_success(latebind("-C", project, "pack"))
    (wheel,) = (project / "dist").glob("acme_vision-0.1.0-*.whl")
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {"vision", "acme_vision-0.1.0.dist-info"}

    edit(project / "latebind.toml", 'module_name = "vision", ', "")
    assert_success(latebind("-C", project, "pack"))
    audited = latebind("-C", project, "audit", "--format", "json")
    assert {"LB417"} <= {finding["code"] for finding in json.loads(audited.stdout)["findings"]}
    assert audited.returncode == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--module-name", "Vision-2"), "Write it in lowercase, with underscores: vision_2."),
        (("--module-name", "json"), "a standard module"),
        (("--module-name", "vision", "--kind", "ep"), "Leave out --module-name."),
    ],
)
def test_an_import_name_that_python_cannot_import_is_refused(latebind, tmp_path, options, says):
    assert_refused(latebind("-C", tmp_path, "new", "demo", *options), says)
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize("name", ["demo", "my-engine", "MyEngine2", "a", "snake_case"])
def test_names_of_packages_are_taken(name):
    check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "-x", "x-", "2fast", "a b", "a/b", "ü", "class", "json", "onnxruntime", "latebind", "consumer"),
        *("my.demo", "con", "COM1", "lpt9"),
    ],
)
def test_other_names_are_refused(name):
    with pytest.raises(InputError):
        check_name(name)


@pytest.mark.builds
def test_the_name_of_a_popular_distribution_is_a_warning(latebind, tmp_path):
    created = latebind("-C", tmp_path, "new", "numpy")
    assert "warning: numpy is the name of a popular distribution on PyPI" in created.stderr
    assert created.returncode == 0


@pytest.mark.builds
def test_a_folder_with_files_is_left_as_it_is(latebind, tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "mine.txt").write_text("mine", encoding="utf-8")
    assert_refused(latebind("-C", tmp_path, "new", "demo"), "already exists and is not an empty folder")
    assert [path.name for path in (tmp_path / "demo").iterdir()] == ["mine.txt"]


@pytest.mark.builds
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--language", "cpp"), "c++"),
        (("--kind", "ep", "--language", "c++"), "--kind ep has no template for C++"),
        (("--kind", "custom-op", "--language", "c"), "--kind custom-op has no template for C"),
    ],
)
def test_a_language_that_no_project_is_made_in_is_refused(latebind, tmp_path, options, message):
    assert_refused(latebind("-C", tmp_path, "new", "demo", *options), message)
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize(
    "write",
    [
        project_files,
        lambda name, _language, author: provider_files(name, author),
        lambda name, _language, author: operators_files(name, author),
    ],
)
def test_the_changelog_has_a_section_for_the_first_release(write):
    files = write("demo", "c", "Acme")
    version = (tables_of(files["latebind.toml"]) or {})["project"]["version"]
    found = find_section(files["CHANGELOG.md"], version)
    assert found is not None
    assert found.body == "- The first version of demo."
