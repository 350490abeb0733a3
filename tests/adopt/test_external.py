"""`latebind init` on projects that another build system builds: what it writes, and which commands it prints."""

import re

import pytest

from tests.programs import assert_refused, assert_success, run_checked

LICENCE = "MIT License\n\nPermission is hereby granted, free of charge, to any person\n"
SOURCE = "#include <onnxruntime_c_api.h>\nconst char *version(void) { return OrtGetApiBase()->GetVersionString(); }\n"
MESON = (
    "project('engine', 'c', version: '1.2')\n"
    "library('engine', 'engine.c', dependencies: dependency('libonnxruntime'))\n"
)
MAKE = (
    "ORT = /opt/onnxruntime # not the runtime itself\n"
    "libengine.so: engine.c\n\t$(CC) -shared -fPIC engine.c -L$(ORT)/lib -lonnxruntime -o $@\n"
)
SETUP = (
    "from setuptools import Extension, setup\n"
    'setup(name="engine", version="1.2", ext_modules=[Extension("engine", ["engine.c"], libraries=["onnxruntime"])])\n'
)
SCIKIT = (
    '[build-system]\nrequires = ["scikit-build-core"]\nbuild-backend = "scikit_build_core.build"\n\n'
    '[project]\nname = "engine"\nversion = "1.2"\n'
)
CMAKE = "project(engine C)\nfind_package(onnxruntime REQUIRED)\n"
WHEEL = "python -m pip wheel --no-deps --wheel-dir dist ."
BUILDS = {
    "Meson": ({"meson.build": MESON}, "meson.build:2: names onnxruntime", "meson compile -C builddir"),
    "make": ({"Makefile": MAKE}, "Makefile:3: names onnxruntime", "make"),
    "configure": ({"configure": "check_pkg_config openvino\n", "Makefile": ""}, "configure:1: names openvino", "make"),
    "setuptools": ({"setup.py": SETUP}, "setup.py:2: names onnxruntime", WHEEL),
    "scikit-build-core": (
        {"pyproject.toml": SCIKIT, "CMakeLists.txt": CMAKE},
        "CMakeLists.txt:2: names onnxruntime",
        WHEEL,
    ),
    "meson-python": (
        {
            "pyproject.toml": SCIKIT.replace("scikit-build-core", "meson-python").replace(
                "scikit_build_core.build", "mesonpy"
            ),
            "meson.build": MESON,
        },
        "meson.build:2: names onnxruntime",
        WHEEL,
    ),
}


def write(root, files):
    root.mkdir(parents=True, exist_ok=True)
    for name, text in {"engine.c": SOURCE, "LICENSE": LICENCE, **files}.items():
        (root / name).write_text(text)
    return root


@pytest.fixture
def project(tmp_path):
    """A project of make, whose library the tests build with the stub."""
    return write(tmp_path / "engine", {"Makefile": MAKE})


def steps(printed):
    return re.findall(r"^next: (.*?)(?:  #.*)?$", printed, re.MULTILINE)


@pytest.mark.parametrize("build", BUILDS)
def test_it_names_the_place_and_the_commands_of_each_build(latebind, tmp_path, build):
    files, place, command = BUILDS[build]
    root = write(tmp_path / "engine", files)

    printed = assert_success(latebind("init", root, "--yes"))

    assert place in printed
    assert command in steps(printed)
    written = (root / "latebind.toml").read_text()
    assert 'build = "external"' in written
    is_wheel = command == WHEEL
    assert ('wheel = { name = "engine", kind = "cpython" }' in written) == is_wheel
    assert (root / "verify" / "smoke.py").is_file() == is_wheel
    assert steps(printed)[-1].endswith("verify")
    assert_success(latebind("-C", root, "plan"))


def test_continued_it_repeats_what_is_left(latebind, project):
    first = assert_success(latebind("init", project, "--yes"))
    again = assert_success(latebind("init", project, "--yes"))
    assert steps(again) == steps(first)
    assert "written:" not in again
    assert "by hand: latebind.toml names no consumer" in again


def test_a_download_of_the_runtime_is_named(latebind, project):
    line = "https://github.com/microsoft/onnxruntime/releases/download/v1.20.0/onnxruntime-linux-x64-1.20.0.tgz"
    (project / "Makefile").write_text(f"{MAKE}get:\n\tcurl -LO {line}\n")
    printed = assert_success(latebind("init", project))
    assert "by hand: Makefile:5 downloads ONNX Runtime: replace the download with the folder stubs/linux-x64" in printed


def test_a_build_that_names_no_runtime_is_left_alone(latebind, project):
    (project / "Makefile").write_text("all:\n\ttrue # -lonnxruntime\n")
    printed = assert_success(latebind("init", project, "--yes"))
    assert "make: its files name no runtime that latebind knows" in printed
    assert not (project / "latebind.toml").exists()


def test_without_an_import_packing_says_what_to_run(latebind, project):
    assert_success(latebind("init", project, "--yes"))
    advice = "latebind stage --import FILE --target linux-x64"
    assert_refused(
        latebind("-C", project, "pack"), "your own build makes the native files", "none were imported", advice
    )


def test_an_import_of_other_sources_is_not_packed(latebind, project):
    assert_success(latebind("init", project, "--yes"))
    run_checked("cc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", project / "libengine.so")
    assert_success(latebind("-C", project, "stage", "--import", project / "libengine.so"))
    (project / "engine.c").write_text("int other;\n")
    assert_refused(latebind("-C", project, "pack"), "those in the stage are from other sources")
