"""`latebind init` on projects of others: shows first, writes what was agreed to, never anything silently."""

import re
import shutil
import zipfile

import pytest

from latebind.adopt.change import Change
from latebind.adopt.plan import NO_CONSUMER
from latebind.adopt.write import render_diff
from tests.client import copy_client, edit, read_client
from tests.programs import assert_refused, assert_success, run_checked

PACK = "".join(f"next: latebind -C {{project}} {command}\n" for command in ("pack", "audit", "verify"))
CMAKE = read_client("voice", "CMakeLists.txt")


@pytest.fixture
def project(tmp_path):
    root = copy_client("voice", tmp_path / "voice")
    (root / "LICENSE").write_text("MIT License\n\nPermission is hereby granted, free of charge, to any person\n")
    return root


def state(root):
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_without_a_terminal_it_shows_and_writes_nothing(latebind, project):
    before = state(project)

    for options in ([], ["--dry-run"], ["--dry-run", "--apply"]):
        printed = assert_success(latebind("init", project, *options))
        assert "CMakeLists.txt:5: voice links onnxruntime" in printed
        assert "+install(TARGETS voice COMPONENT voice LIBRARY DESTINATION lib)" in printed
        assert "+drop_in = true" in printed
        assert '+minimum = "1.20"' in printed
        assert '+version = "2.1.0"' in printed
        assert '+license = "MIT"' in printed
        assert state(project) == before


def test_yes_writes_new_files_and_leaves_the_projects_own(latebind, project):
    before = state(project)

    ended = latebind("init", project, "--yes")

    after = state(project)
    assert {path.as_posix() for path in set(after) - set(before)} == {
        ".gitignore",
        "latebind.toml",
        ".github/dependabot.yml",
        ".github/workflows/latebind.yml",
    }
    assert {path: after[path] for path in before} == before
    assert f"next: latebind init {project} --apply --yes  # changes 1 existing file as shown" in ended.stdout


@pytest.mark.slow
def test_what_it_makes_builds_packs_and_its_audit_is_clean(latebind, project):
    assert latebind("init", project, "--yes", "--apply").returncode == 0
    once = state(project)

    packed = latebind("-C", project, "pack", "--target", "linux-x64")
    audited = latebind("-C", project, "audit")
    again = latebind("init", project, "--yes", "--apply")

    assert packed.returncode == 0, packed.stderr
    assert ".nupkg: 0 errors, 0 warnings" in audited.stdout
    (package,) = (project / "dist").glob("*.nupkg")
    assert "runtimes/linux-x64/native/libvoice.so" in zipfile.ZipFile(package).namelist()
    assert "no more files to write" in again.stdout
    assert {path: data for path, data in state(project).items() if path in once} == once
    assert "up to date" in latebind("-v", "-C", project, "build", "--target", "linux-x64").stderr


def test_tabs_stay_in_a_shown_difference_and_control_characters_do_not(tmp_path):
    change = Change(path=tmp_path / "Makefile", before="all:\n\tcc a.c\n", after="all:\n\tcc b.c\x1b\n")
    assert render_diff(change, tmp_path).splitlines()[-2:] == ["-\tcc a.c", "+\tcc b.c\\x1b"]


def test_the_shown_difference_is_exact(latebind, project, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    shown = latebind("-v", "init", project, "--dry-run").stdout
    git = shutil.which("git")
    run_checked(git, "apply", "-", cwd=copy, input=shown[shown.index("--- ") :])

    latebind("init", project, "--yes", "--apply")

    assert state(copy) == state(project)


@pytest.mark.slow
def test_headers_of_the_library_are_packed(latebind, project):
    (project / "voice.h").write_text("int voice_hear(void);\n")
    with (project / "CMakeLists.txt").open("a") as file:
        file.write("install(FILES voice.h DESTINATION include)\n")

    assert_success(latebind("init", project, "--yes", "--apply"))
    assert_success(latebind("-C", project, "pack", "--target", "linux-x64"))

    (package,) = (project / "dist").glob("*.nupkg")
    assert [name for name in zipfile.ZipFile(package).namelist() if name.endswith("voice.h")]


def test_a_long_new_file_is_one_line(latebind, project):
    shown = latebind("init", project, "--dry-run").stdout
    assert re.search(
        r"^new file: \.github/workflows/latebind\.yml \(\d{3} lines; latebind -v init", shown, re.MULTILINE
    )
    assert "+jobs:" not in shown
    assert "+[targets]" in shown


def test_packages_of_today_are_audited_first(latebind, project):
    (project / "dist").mkdir()
    (project / "dist" / "old-1.0-py3-none-any.whl").write_bytes(b"no zip")

    ended = latebind("init", project)

    assert ended.stdout.startswith("your current packages in dist:\n  error   LB601 ")
    assert "\nold-1.0-py3-none-any.whl: 1 error" in ended.stdout
    assert not (project / "latebind.toml").exists()


def test_an_import_name_of_its_own_is_kept(latebind, project):
    """As opencv-python is imported as cv2: the libraries belong into that folder."""
    text = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n[project]\n'
    text += 'name = "acme-voice"\nversion = "2.1.0"\n\n[tool.hatch.build.targets.wheel]\npackages = ["src/hear"]\n'
    (project / "pyproject.toml").write_text(text)
    (project / "src" / "hear").mkdir(parents=True)
    (project / "src" / "hear" / "__init__.py").touch()
    latebind("init", project, "--yes", "--apply")
    assert 'name = "acme-voice", module_name = "hear", extras' in (project / "latebind.toml").read_text()


def test_a_python_package_gets_the_hooks(latebind, project):
    text = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
    text += '\n[project]\nname = "acme-voice"\n'
    (project / "pyproject.toml").write_text(text + 'version = "2.1.0"\ndescription = "Hears voices"\n')
    (project / "src" / "acme_voice").mkdir(parents=True)
    (project / "src" / "acme_voice" / "__init__.py").touch()

    ended = latebind("init", project, "--yes", "--apply")

    written = (project / "pyproject.toml").read_text()
    assert '[tool.hatch.build.hooks.latebind]\npackage = "voice"' in written
    assert 'requires = ["latebind>=0.1", "hatchling"]' in written
    assert 'dynamic = ["version", "dependencies", "optional-dependencies"]' in written
    configuration = (project / "latebind.toml").read_text()
    assert 'wheel = { source = ".", name = "acme-voice", extras = "channels" }' in configuration
    assert 'description = "Hears voices"' in configuration
    assert ended.stdout.endswith(PACK.format(project=project))
    script = (project / "verify" / "smoke.py").read_text()
    compile(script, "smoke.py", "exec")
    assert "import acme_voice" in script
    assert 'os.environ["ONNXRUNTIME_LIB_PATH"]' in script
    module = (project / "src" / "acme_voice" / "_runtime.py").read_text()
    assert '"onnxruntime-gpu"' in module
    assert 'pip install "acme-voice[cpu]"' in module
    assert (project / "src" / "acme_voice" / "__init__.py").read_text().startswith("from ._runtime import load_runtime")


def test_a_python_package_in_a_subfolder_is_left_to_a_person(latebind, project):
    (project / "python").mkdir()
    (project / "python" / "pyproject.toml").write_text('[project]\nname = "voices"\n', encoding="utf-8")
    (hint,) = list_hints(latebind, project)
    assert hint.startswith(
        "python/pyproject.toml: init changes this file only if there is no other pyproject.toml outside of"
    )
    assert hint.endswith('wheel = { source = "python", name = "voices", extras = "channels" }')


SETUPTOOLS = """[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "voices"
version = "2.1.0"
description = "Hears voices" # and speaks

[tool.setuptools.package-data]
voices = ["*.so"]

[tool.ruff]
line-length = 100
"""
HATCHLING = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "voices"
version = "2.1.0"
"""


def add_python_package(project, text):
    package = project / "python" / "voices"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (project / "python" / "LICENSE").write_text("MIT")
    (project / "python" / "pyproject.toml").write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize("text", [SETUPTOOLS, HATCHLING], ids=["setuptools", "hatchling"])
def test_a_python_package_in_a_subfolder_gets_the_hooks(latebind, project, text):
    add_python_package(project, text)
    assert "by hand" not in latebind("init", project).stdout
    assert_success(latebind("init", project, "--yes", "--apply"))

    written = (project / "python" / "pyproject.toml").read_text()
    assert '[tool.hatch.build.hooks.latebind]\npackage = "voice"' in written
    assert '[project]\ndynamic = ["version", "dependencies", "optional-dependencies"]\nname = "voices"\n' in written
    assert "setuptools" not in written
    assert ("line-length = 100" in written) == (text == SETUPTOOLS)
    assert ("# and speaks" in written) == (text == SETUPTOOLS)
    configuration = (project / "latebind.toml").read_text()
    assert 'wheel = { source = "python", name = "voices", extras = "channels" }' in configuration
    assert (project / "python" / "voices" / "_runtime.py").is_file()
    assert "import voices" in (project / "verify" / "smoke.py").read_text()
    assert_success(latebind("-C", project, "pack", "--target", "linux-x64"))
    assert "0 errors" in assert_success(latebind("-C", project, "audit"))
    assert "by hand: verify/smoke.py isn't finished: write run_cases()" in latebind("init", project).stdout
    edit(project / "verify" / "smoke.py", "UNFINISHED = True", "")
    assert "nothing to do" in latebind("init", project, "--yes", "--apply").stdout


@pytest.mark.parametrize(
    "change",
    [
        {"setup.py": "from setuptools import setup\nsetup()\n"},
        {"pyproject.toml": f'{SETUPTOOLS}\n[tool.setuptools.cmdclass]\nbuild = "voices.build"\n'},
    ],
)
def test_a_build_that_only_setuptools_can_do_is_left_to_a_person(latebind, project, change):
    add_python_package(project, SETUPTOOLS)
    for name, text in change.items():
        (project / "python" / name).write_text(text)

    (hint,) = list_hints(latebind, project)

    assert hint.startswith("python/pyproject.toml builds with setuptools.build_meta; for a wheel")


def test_a_project_without_a_consumer_is_not_done(latebind, project):
    latebind("init", project, "--yes", "--apply")
    shown = latebind("init", project).stdout
    assert "by hand: latebind.toml names no consumer, so `latebind verify` has nothing to run" in shown
    assert "nothing to do" not in shown
    with (project / "latebind.toml").open("a") as file:
        file.write('\n[verify]\ndotnet = "consumer"\n')
    assert list_hints(latebind, project) == [
        "consumer does not exist, but verify.dotnet of latebind.toml names it: create it, or remove the key"
    ]
    (project / "consumer").mkdir()
    assert "nothing to do" in latebind("init", project).stdout


def test_missing_headers_are_one_reason_why_cmake_cannot_configure(latebind, project):
    edit(project / "CMakeLists.txt", "add_library(", "find_path(ORT_HEADERS ort.h REQUIRED)\nadd_library(")
    assert "headers of the runtime, get them and run this again: latebind headers onnxruntime" in (
        latebind("init", project).stdout
    )


def test_a_wheel_that_is_configured_gets_no_second_consumer(latebind, project):
    text = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n[project]\nname = "voice"\n'
    (project / "pyproject.toml").write_text(text)
    (project / "voice").mkdir()
    (project / "voice" / "__init__.py").touch()
    assert_success(latebind("init", project, "--yes"))
    for path in (project / "verify" / "smoke.py", project / "voice" / "_runtime.py"):
        path.unlink()
    edit(project / "latebind.toml", "verify/smoke.py", "verify/own.py")
    shown = assert_success(latebind("init", project))
    assert "+install(TARGETS voice COMPONENT voice" in shown
    assert "smoke.py" not in shown
    assert "_runtime.py" not in shown


def test_headers_that_the_project_has_are_not_asked_for(latebind, project):
    edit(project / "CMakeLists.txt", "add_library(", 'message(FATAL_ERROR "needs a GPU")\nadd_library(')
    assert "latebind headers" in latebind("init", project).stdout
    (project / "include").mkdir()
    (project / "include" / "onnxruntime_c_api.h").write_text("#define ORT_API_VERSION 21\n")
    assert "latebind headers" not in latebind("init", project).stdout


@pytest.fixture
def operators(tmp_path):
    """A library of custom operators, whose code is in a static one; another library has none."""
    root = tmp_path / "operators"
    root.mkdir()
    (root / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(operators VERSION 1.0.0 LANGUAGES C)\n"
        "add_library(core STATIC operators.c)\nset_target_properties(core PROPERTIES POSITION_INDEPENDENT_CODE ON)\n"
        "add_library(operators SHARED empty.c)\n"
        "target_link_libraries(operators PRIVATE -Wl,--whole-archive core -Wl,--no-whole-archive)\n"
        "add_library(other SHARED empty.c)\ninstall(TARGETS operators DESTINATION lib)\n"
    )
    (root / "LICENSE").write_text("MIT License\n\nPermission is hereby granted, free of charge, to any person\n")
    (root / "empty.c").touch()
    (root / "operators.c").write_text("int RegisterCustomOps(void *options, const void *base)\n{\n  return 0;\n}\n")
    return root


def test_a_library_that_the_runtime_calls_is_packed_without_a_stub(latebind, operators):
    shown = assert_success(latebind("init", operators, "--yes", "--apply"))
    called = "operators.c: defines RegisterCustomOps(), which ONNX Runtime calls, so no target links the runtime"
    assert called in shown
    assert re.findall("by hand: (.*)", shown) == [NO_CONSUMER]
    written = (operators / "latebind.toml").read_text()
    assert 'exports = ["RegisterCustomOps"]' in written
    assert "drop_in" not in written
    cmake = (operators / "CMakeLists.txt").read_text()
    assert (
        cmake.count("COMPONENT") == cmake.count("install(TARGETS operators COMPONENT operators DESTINATION lib)") == 1
    )
    assert_success(latebind("-C", operators, "pack", "--target", "linux-x64"))
    (package,) = (operators / "dist").glob("*.nupkg")
    assert "runtimes/linux-x64/native/liboperators.so" in zipfile.ZipFile(package).namelist()
    assert "no more files to write" in latebind("init", operators).stdout


def test_a_library_that_the_runtime_calls_is_named_without_cmake(latebind, operators):
    shown = assert_success(latebind("init", operators, "--no-configure"))
    assert "operators.c: defines RegisterCustomOps(), which ONNX Runtime calls" in shown
    assert "examples/custom-op" in shown
    assert "no target_link_libraries() links a runtime" not in shown
    (operators / "operators.c").write_text("int RegisterCustomOps(void *options, const void *base);\n")
    assert "no target_link_libraries() links a runtime" in latebind("init", operators).stdout


def test_a_component_that_nothing_installs_is_left_to_do(latebind, operators):
    (operators / "latebind.toml").write_text(
        '[project]\nname = "operators"\nversion = "1.0.0"\n[native]\nsource = "."\n'
        '[[runtime]]\npreset = "onnxruntime"\nminimum = "1.19"\n[targets]\ninclude = ["linux-x64"]\n'
        '[package.operators]\ncomponent = "operators"\nruntime = "onnxruntime"\nexports = ["RegisterCustomOps"]\n'
        'nuget = { id = "Operators" }\n[verify]\ndotnet = "consumer"\n'
    )
    shown = latebind("init", operators, "--no-configure").stdout
    assert "by hand: no install() has COMPONENT operators, but latebind.toml packs this component" in shown
    assert "nothing to do" not in shown
    edit(operators / "CMakeLists.txt", "TARGETS operators", "TARGETS operators COMPONENT operators")
    (operators / "consumer").mkdir()
    assert "nothing to do" in latebind("init", operators, "--no-configure").stdout


def test_a_script_that_nobody_finished_is_refused(latebind, project):
    text = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n[project]\nname = "voice"\n'
    (project / "pyproject.toml").write_text(text)
    (project / "voice").mkdir()
    (project / "voice" / "__init__.py").touch()
    assert_success(latebind("init", project, "--yes", "--apply"))
    assert_success(latebind("-C", project, "pack", "--target", "linux-x64"))
    refused = latebind("-C", project, "verify", "--target", "linux-x64")
    assert_refused(refused, "verify/smoke.py: isn't finished", "delete the line `UNFINISHED = True`")


def test_a_gitignore_keeps_its_lines_and_gets_the_missing_ones(latebind, project):
    (project / ".gitignore").write_text("*.o\n/dist/")
    latebind("init", project, "--yes", "--apply")
    lines = (project / ".gitignore").read_text().splitlines()
    assert lines[:2] == ["*.o", "/dist/"]
    assert {"/stage/", "/build/"} <= set(lines)
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize(
    ("cmake", "message"),
    [
        (
            "add_library(onnxruntime SHARED IMPORTED)\n",
            "not the stub; use the target that the stub defines for find_package(onnxruntime)\n",
        ),
        ("target_link_libraries(voice PRIVATE openvino::runtime)\n", "openvino::runtime is the C++ interface"),
        (
            "FetchContent_Declare(openvino)\ntarget_link_libraries(voice openvino_c)\n",
            "this downloads openvino; replace it with find_package(OpenVINO)",
        ),
    ],
)
def test_what_a_person_must_do_is_said(latebind, project, cmake, message):
    rest = CMAKE.replace("find_package(onnxruntime 1.20 REQUIRED)\n", "")  # which would be taken before the target
    (project / "CMakeLists.txt").write_text(cmake + rest)
    assert message in latebind("init", project).stdout


def test_a_library_that_find_library_found_is_a_runtime(latebind, project):
    text = CMAKE.replace("find_package(onnxruntime 1.20 REQUIRED)", "find_library(RT openvino_c HINTS ${DIR}/lib)")
    (project / "CMakeLists.txt").write_text(text.replace("onnxruntime::onnxruntime", "${RT}"))

    ended = latebind("init", project, "--yes", "--apply")

    assert "CMakeLists.txt:5: voice links openvino" in ended.stdout
    assert "target_link_libraries(voice PRIVATE ${RT})" in (project / "CMakeLists.txt").read_text()
    assert "drop_in = true" in (project / "latebind.toml").read_text()


def test_a_project_that_is_configured_gets_the_stub_alone(latebind, project):
    latebind("init", project, "--yes", "--apply")
    file = project / "latebind.toml"
    original = file.read_text()
    file.write_text(
        original.replace("drop_in = true # your code links a stub, which binds the runtime at the first call\n", "")
    )
    ended = latebind("init", project, "--apply", "--yes")
    assert "written: latebind.toml" in ended.stdout
    assert file.read_text().count("drop_in = true\n") == 1
    assert "no more files to write" in latebind("init", project).stdout
    edit(file, "drop_in = true", "drop_in=true")
    assert "no more files to write" in latebind("init", project).stdout


def list_hints(latebind, project):
    """Each hint of `init` with its places, one item for each."""
    notes = re.findall(r"^by hand: (.+(?:\n    .+)*)", latebind("init", project).stdout, re.MULTILINE)
    return [note for note in notes if "names no consumer" not in note]


def add_sources(project, *names):
    """Add C++ files to the client's library."""
    edit(project / "CMakeLists.txt", "LANGUAGES C)", "LANGUAGES C CXX)")
    edit(project / "CMakeLists.txt", "SHARED voice.c", f"SHARED voice.c {' '.join(names)}")


def test_objects_that_are_made_at_load_are_listed_and_functions_are_not(latebind, project):
    add_sources(project, "voice.cpp")
    (project / "voice.cpp").write_text(
        'static Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "voice");\nOrt::Session open(const char* path);\n'
        "Ort::SessionOptions options;\nint f() {\n  static Ort::Env lazy;\n  return 0;\n}\n"
        "const Ort::MemoryInfo info{nullptr};\n"
        "Ort::Value View(OrtAllocator *allocator, int n);\nOrt::Value Clone(Ort::Value *value);\n"
        "Ort::Value Take(Ort::Value value);\nOrt::MemoryInfo memory(OrtArenaAllocator, OrtMemTypeDefault);\n"
        "static bool started = (Ort::InitApi(), true);\nvoid start() {\n  bool inside = (Ort::InitApi(), true);\n}\n"
    )
    (hint,) = [hint for hint in list_hints(latebind, project) if "while the library is loaded" in hint]
    places = [
        "voice.cpp:1: env",
        "voice.cpp:3: options",
        "voice.cpp:8: info",
        "voice.cpp:12: memory",
        "voice.cpp:13: started",
    ]
    assert [line.strip() for line in hint.splitlines()[1:]] == places


SHERPA = """find_library(location onnxruntime PATHS "$ENV{ORT}" NO_CMAKE_SYSTEM_PATH)
if(location)
  add_library(onnxruntime SHARED IMPORTED)
  set_target_properties(onnxruntime PROPERTIES IMPORTED_LOCATION ${location})
else()
  FetchContent_Declare(onnxruntime URL x)
endif()
"""


def test_a_runtime_that_is_looked_up_before_it_is_fetched_needs_no_hand(latebind, project):
    edit(project / "CMakeLists.txt", "find_package(onnxruntime 1.20 REQUIRED)", SHERPA)
    edit(project / "CMakeLists.txt", "onnxruntime::onnxruntime", "onnxruntime")
    assert list_hints(latebind, project) == []


def test_a_sample_in_another_folder_is_neither_chosen_nor_changed(latebind, project):
    sample = copy_client("voice", project / "a-sample" / "cpp")
    edit(sample / "CMakeLists.txt", "project(voice", "project(sample")
    (sample / "voice.cpp").write_text("Ort::SessionOptions options;\n")
    before = state(sample)
    shown = latebind("init", project, "--yes", "--apply").stdout
    assert "a-sample" not in shown
    assert 'name = "voice"' in (project / "latebind.toml").read_text()
    assert state(sample) == before


def test_a_library_over_a_static_core_that_links_the_runtime_is_packed(latebind, project):
    (project / "core.c").write_text("int core(void) { return 1; }\n")
    core = "add_library(core STATIC core.c)\nset_target_properties(core PROPERTIES POSITION_INDEPENDENT_CODE ON)\n"
    core += "target_link_libraries(core PRIVATE onnxruntime::onnxruntime)\nadd_library(voice voice.c)"
    edit(project / "CMakeLists.txt", "add_library(voice SHARED voice.c)", core)
    edit(
        project / "CMakeLists.txt",
        "target_link_libraries(voice PRIVATE onnxruntime::onnxruntime)",
        "target_link_libraries(voice core)",
    )
    edit(
        project / "CMakeLists.txt",
        "project(voice VERSION 2.1.0 LANGUAGES C)",
        'project(voice C)\nset(VOICE_VERSION "3.1.4")',
    )

    assert_success(latebind("init", project, "--yes", "--apply"))

    configuration = (project / "latebind.toml").read_text()
    assert 'version = "3.1.4"' in configuration
    assert "define = { BUILD_SHARED_LIBS = true }" in configuration
    assert_success(latebind("-C", project, "pack", "--target", "linux-x64"))
    (package,) = (project / "dist").glob("*.nupkg")
    assert "runtimes/linux-x64/native/libvoice.so" in zipfile.ZipFile(package).namelist()


def test_a_name_with_a_variable_is_another_target_in_each_file(latebind, project):
    edit(project / "CMakeLists.txt", "add_library(voice SHARED voice.c)", "add_library(${PROJECT_NAME} SHARED voice.c)")
    edit(project / "CMakeLists.txt", "target_link_libraries(voice ", "target_link_libraries(${PROJECT_NAME} ")
    other = "project(other C)\nadd_library(${PROJECT_NAME} SHARED other.c)\n"
    other += "install(TARGETS ${PROJECT_NAME} DESTINATION lib)\n"
    edit(
        project / "CMakeLists.txt",
        "install(TARGETS voice ",
        "add_subdirectory(other)\ninstall(TARGETS ${PROJECT_NAME} ",
    )
    (project / "other").mkdir()
    (project / "other" / "CMakeLists.txt").write_text(other)
    assert_success(latebind("init", project, "--yes", "--apply"))
    assert (project / "other" / "CMakeLists.txt").read_text() == other
    assert "install(TARGETS ${PROJECT_NAME} COMPONENT voice LIBRARY" in (project / "CMakeLists.txt").read_text()


def test_a_target_whose_name_is_in_a_variable_is_found(latebind, project):
    """As in onnxruntime-genai, where the variable holds the shared library or its objects."""
    text = CMAKE.replace("add_library(voice SHARED voice.c)", "set(NAME voice)\nadd_library(${NAME} SHARED voice.c)")
    (project / "CMakeLists.txt").write_text(text.replace("install(TARGETS voice ", "install(TARGETS ${NAME} "))
    assert_success(latebind("init", project, "--yes", "--apply"))
    assert "install(TARGETS ${NAME} COMPONENT voice LIBRARY" in (project / "CMakeLists.txt").read_text()


def test_where_nothing_can_be_written_nothing_is_said_about_it(latebind, project):
    """A program links the runtime, and the project states no version: nobody asked for a latebind.toml."""
    text = CMAKE.replace("add_library(voice SHARED voice.c)", "add_executable(voice voice.c)").replace(
        " VERSION 2.1.0", ""
    )
    (project / "CMakeLists.txt").write_text(text)
    shown = latebind("init", project).stdout
    assert "no add_library() makes a shared library that links the runtime" in shown
    assert "is written\n" not in shown
    (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(voice C)\n")
    assert "by hand" not in latebind("init", project).stdout


def test_a_variable_may_hold_one_of_several_targets(latebind, project):
    lines = (
        "if(A)\nset(CORE voice)\nadd_library(voice SHARED voice.c)\nelse()\nset(CORE core)\n"
        "add_library(core OBJECT voice.c)\nadd_library(voice SHARED)\nendif()\n"
    )
    text = CMAKE.replace("add_library(voice SHARED voice.c)", lines)
    (project / "CMakeLists.txt").write_text(
        text.replace("target_link_libraries(voice ", "target_link_libraries(${CORE} ")
    )
    assert '+[package."voice"]' in latebind("init", project).stdout


def test_a_library_that_a_choice_makes_shared_is_packed(latebind, project):
    both = "if(STATIC)\n  add_library(voice STATIC voice.c)\nelse()\n  add_library(voice SHARED voice.c)\nendif()"
    edit(
        project / "CMakeLists.txt",
        "add_library(voice SHARED voice.c)",
        f"if(NOT STATIC)\nadd_library(voice SHARED voice.c)\nelse()\n{both}\nendif()",
    )
    assert '+[package."voice"]' in latebind("init", project).stdout


def test_without_a_library_that_links_the_runtime_it_says_what_to_do(latebind, project):
    edit(project / "CMakeLists.txt", "voice SHARED", "voice STATIC")
    shown = latebind("init", project, "--yes", "--apply").stdout
    assert "by hand: no add_library() makes a shared library that links the runtime" in shown
    assert shown.endswith("do the steps above by hand, then run this again\n")
    assert not (project / "latebind.toml").exists()


def follow_next(latebind, output):
    """Run the command that `init` prints as next."""
    (command,) = re.findall(r"^next: latebind (.*?)(?:  #.*)?$", output, re.MULTILINE)
    return latebind(*command.split()).stdout


def test_each_next_leads_to_a_project_that_packs(latebind, project):
    shown = latebind("init", project).stdout
    seen = []
    while "init" in shown.rpartition("next: ")[2]:
        shown = follow_next(latebind, shown)
        seen.append(shown)
        assert len(seen) < 5, seen
    assert "COMPONENT voice" in (project / "CMakeLists.txt").read_text()
    assert shown.endswith(PACK.format(project=project))
    assert "no more files to write" in latebind("init", project).stdout


def test_what_is_left_by_hand_is_continued(latebind, project):
    file = project / "pyproject.toml"
    file.write_text('[build-system]\nrequires = ["setuptools"]\n[project]\nname = "voice"\nversion = "1"\n')
    latebind("init", project, "--yes", "--apply")
    again = latebind("init", project, "--yes", "--apply").stdout
    assert "pyproject.toml builds with setuptools" in again
    assert "no more files to write" in again
    assert "wheel =" not in (project / "latebind.toml").read_text()

    edit(
        file,
        'requires = ["setuptools"]',
        'requires = ["hatchling>=1.28", "latebind>=0.1"]\nbuild-backend = "hatchling.build"',
    )
    latebind("init", project, "--yes", "--apply")

    assert '[tool.hatch.build.hooks.latebind]\npackage = "voice"' in file.read_text()
    configuration = (project / "latebind.toml").read_text()
    assert 'wheel = { source = ".", name = "voice", extras = "channels" }' in configuration
    assert 'python = "verify/smoke.py"' in configuration
    assert (project / "verify" / "smoke.py").is_file()
    assert_success(latebind("-C", project, "plan"))
    assert "no more files to write" in latebind("init", project, "--yes", "--apply").stdout


def test_sources_above_the_cmake_project_are_part_of_the_native_source(latebind, project):
    (project / "native").mkdir()
    (project / "CMakeLists.txt").rename(project / "native" / "CMakeLists.txt")
    edit(project / "native" / "CMakeLists.txt", "voice.c", "${CMAKE_CURRENT_SOURCE_DIR}/../voice.c")
    shown = latebind("init", project, "--yes", "--apply").stdout
    assert '+source = "."\n+cmake = "native"\n' in shown
    assert_success(latebind("-C", project, "build", "--target", "linux-x64"))


def test_files_with_windows_line_ends_keep_them(latebind, project):
    for name in ("CMakeLists.txt", "voice.c"):
        path = project / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (project / ".gitignore").write_bytes(b"*.o\r\n")
    assert_success(latebind("init", project, "--yes", "--apply"))
    for name in ("CMakeLists.txt", ".gitignore"):
        data = (project / name).read_bytes()
        assert data.count(b"\n") == data.count(b"\r\n") > 1
    assert b"COMPONENT voice" in (project / "CMakeLists.txt").read_bytes()
    assert "no more files to write" in latebind("init", project).stdout


def test_of_several_cmake_projects_the_one_that_links_is_taken(latebind, project, tmp_path):
    for top, source in (("project(other)\n", "lib"), ("project(other)\nadd_subdirectory(lib)\n", ".")):
        root = tmp_path / source.replace(".", "all")
        shutil.copytree(project, root / "lib")
        (root / "CMakeLists.txt").write_text(top)
        assert f'+source = "{source}"' in latebind("init", root).stdout


def test_without_a_build_it_says_what_to_do(latebind, tmp_path):
    assert_refused(latebind("init", tmp_path), "there is no build system that latebind knows", "meson.build, configure")


def test_a_project_that_links_no_runtime_is_left_alone(latebind, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("project(a)\nadd_library(a SHARED a.c)\n")
    ended = latebind("init", tmp_path, "--yes", "--apply")
    assert "no target links a runtime" in ended.stdout
    assert "nothing to change: no target_link_libraries() links a runtime" in ended.stdout
    assert "nothing to do" not in ended.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["CMakeLists.txt"]


def test_code_that_opens_the_runtime_is_named_where_nothing_links_it(latebind, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("project(a)\nadd_library(a SHARED a.c)\n")
    (tmp_path / "a.c").write_text('void *open(void) { return dlopen("libonnxruntime.so.1", 1); }\n')
    shown = latebind("init", tmp_path).stdout
    assert "a.c: opens ONNX Runtime itself, so no target has to link it" in shown
    assert "no target_link_libraries() links a runtime" not in shown


GUARDED = 'extern "C" int voice_b() { try { return Ort::GetVersionString().size(); } catch (...) { return -1; } }\n'


def test_a_c_interface_over_ort_that_catches_nothing_is_listed(latebind, project):
    sources = {
        "a.cc": 'extern "C" int voice_a() { return Ort::GetVersionString().size(); } // catch (...)\n',
        "b.cc": GUARDED,
        "c.cc": '#include "c.h"\nint voice_c() { return made(); }\n',
        "c.h": '#ifdef __cplusplus\nextern "C"\n#endif\nint voice_c();\n',
        "inner.cc": "int made() { return Ort::GetVersionString().size(); }\n",
        "tool.cc": 'extern "C" int voice_a();\nint main() { return voice_a(); }\n',
    }
    for name, text in sources.items():
        (project / name).write_text(text)
    add_sources(project, *(name for name in sources if name.endswith(".cc")))

    (hint,) = [hint for hint in list_hints(latebind, project) if "catch no exceptions" in hint]

    assert re.findall(r"\w+\.cc", hint) == ["a.cc", "c.cc"]
    assert "lb_onnxruntime_available" in hint


def test_a_header_next_to_a_file_says_more_than_one_of_the_same_name_elsewhere(latebind, project):
    for folder in ("java", "core"):
        (project / folder).mkdir()
    (project / "java" / "parts.h").write_text('extern "C" int voice_parts();\n')
    source = project / "core" / "parts.cc"
    source.write_text("int parts() { return Ort::GetVersionString().size(); }\n")
    add_sources(project, "core/parts.cc")
    assert [hint for hint in list_hints(latebind, project) if "catch no exceptions" in hint]
    source.with_suffix(".h").write_text("int parts();\n")
    assert not [hint for hint in list_hints(latebind, project) if "catch no exceptions" in hint]


def test_a_c_interface_is_not_listed_where_nothing_uses_ort(latebind, project):
    (project / "a.cc").write_text('extern "C" int voice_a() { return 1; }\n')

    assert "catch no exceptions" not in latebind("init", project).stdout
