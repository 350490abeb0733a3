"""Advice of builds and packages: what a message names is run or written, and the command that failed succeeds."""

from __future__ import annotations

import os
import shlex
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.advice.following import list_commands, list_options, list_settings, write_setting
from tests.advice.test_commands import is_gone
from tests.client import edit
from tests.programs import assert_success

pytestmark = pytest.mark.builds


@pytest.mark.advice("Make them: latebind pack")
def test_an_audit_without_packages(tiny, start_in, follow):
    refused = start_in("audit", at=tiny)
    assert_success(follow(refused, at=tiny))
    assert_success(start_in("audit", at=tiny))


@pytest.mark.advice("out of date in dist/: {}\n  To pack again: latebind pack --target {}")
def test_an_audit_of_older_packages(packed_tiny, start_in, follow):
    edit(packed_tiny / "native/tiny.c", "return", "return 0 +", 1)
    audited = start_in("audit", at=packed_tiny)
    assert_success(follow(audited, at=packed_tiny))
    assert "out of date" not in start_in("audit", at=packed_tiny).stderr


@pytest.mark.advice("not in dist/: packages for {}\n  To pack all: latebind pack --target all")
def test_an_audit_of_packages_for_some_targets(packed_tiny, start_in, follow):
    edit(packed_tiny / "latebind.toml", '["linux-x64"]', '["linux-x64", "linux-arm64"]')
    audited = start_in("audit", at=packed_tiny)
    assert_success(follow(audited, at=packed_tiny))
    assert "not in dist" not in start_in("audit", at=packed_tiny).stderr


@pytest.mark.advice("nothing is built yet\n  To build: latebind build")
def test_no_stage(tiny, start_in, follow):
    assert_success(follow(start_in("stage", at=tiny), at=tiny))
    assert "linux-x64" in assert_success(start_in("stage", at=tiny))


@pytest.fixture
def built_elsewhere(packed_tiny):
    """The project, whose native files another build makes: in built/, as cmake --install lays them out."""
    shutil.copytree(packed_tiny / "stage/linux-x64/tiny", packed_tiny / "built/tiny")
    shutil.rmtree(packed_tiny / "stage")
    edit(packed_tiny / "latebind.toml", 'source = "native"', 'source = "native"\nbuild = "external"')
    return packed_tiny


@pytest.mark.parametrize("file", ["built/tiny/lib/libtiny.so", "built"])
@pytest.mark.advice("Build them, and run: latebind stage --import FILE --target {}")
def test_native_files_of_another_build(built_elsewhere, start_in, follow, file):
    refused = start_in("pack", at=built_elsewhere)
    assert refused.returncode == 2
    assert_success(follow(refused, at=built_elsewhere, FILE=file))
    assert_success(start_in("pack", at=built_elsewhere))


@pytest.mark.advice("Name it: --target RID.")
def test_a_folder_of_an_unknown_target(built_elsewhere, start_in, advised):
    refused = start_in("stage", "--import", "built", at=built_elsewhere)
    assert list_options(advised(refused)) == ["--target"]
    assert_success(start_in("stage", "--import", "built", "--target", "linux-x64", at=built_elsewhere))


@pytest.mark.advice("Name one of them: --target RID.")
def test_a_library_for_several_targets(built_elsewhere, start_in, advised):
    edit(built_elsewhere / "latebind.toml", '["linux-x64"]', '["linux-x64", "linux-musl-x64"]')
    words = ("stage", "--import", "built/tiny/lib/libtiny.so")
    refused = start_in(*words, at=built_elsewhere)
    assert list_options(advised(refused)) == ["--target"]
    assert_success(start_in(*words, "--target", "linux-x64", at=built_elsewhere))


@pytest.mark.advice("Leave --target out, or name {}.")
def test_a_library_of_another_target(built_elsewhere, start_in, advised):
    edit(built_elsewhere / "latebind.toml", '["linux-x64"]', '["linux-x64", "linux-arm64"]')
    words = ("stage", "--import", "built/tiny/lib/libtiny.so")
    refused = start_in(*words, "--target", "linux-arm64", at=built_elsewhere)
    named = advised(refused).rpartition("name ")[2].rstrip(".")
    assert_success(start_in(*words, at=built_elsewhere))
    assert_success(start_in(*words, "--target", named, at=built_elsewhere))


@pytest.mark.advice("Add its target to targets.include.")
def test_a_library_for_no_target(built_elsewhere, start_in, advised):
    edit(built_elsewhere / "latebind.toml", '["linux-x64"]', '["linux-arm64"]')
    words = ("stage", "--import", "built/tiny/lib/libtiny.so")
    refused = start_in(*words, at=built_elsewhere)
    assert advised(refused)
    edit(built_elsewhere / "latebind.toml", '["linux-arm64"]', '["linux-arm64", "linux-x64"]')
    assert_success(start_in(*words, at=built_elsewhere))


@pytest.mark.advice("Lay the files out as `cmake --install BUILD --component NAME --prefix FOLDER/NAME` does.")
def test_a_folder_without_components(tiny, start_in, advised):
    assert_success(start_in("build", at=tiny))
    shutil.copytree(tiny / "stage/linux-x64/tiny", tiny / "built")
    words = ("stage", "--import", "built", "--target", "linux-x64")
    refused = start_in(*words, at=tiny)
    [[_, *_, folder]] = list_commands(advised(refused))
    place = tiny / folder.replace("FOLDER", "laid").replace("NAME", "tiny")
    shutil.copytree(tiny / "built", place)
    assert_success(start_in("stage", "--import", "laid", "--target", "linux-x64", at=tiny))


@pytest.mark.parametrize("listed", ["tiny_nosuch", "other"])
@pytest.mark.advice(
    "Export {} (default visibility, __declspec(dllexport)); latebind_exports() in CMakeLists.txt hides what matches "
    "none of its patterns. Or correct package.{}.exports, in which names with a wildcard need not match any symbol."
)
def test_an_export_that_no_library_has(tiny, start_in, advised, listed):
    edit(tiny / "latebind.toml", '["tiny_*"]', f'["tiny_*", "{listed}"]')
    refused = start_in("build", at=tiny)
    assert f"Export {listed} " in advised(refused)
    edit(tiny / "latebind.toml", f'"{listed}"', f'"{listed}*"')
    assert_success(start_in("build", at=tiny))


@pytest.mark.advice(
    'Write toolchain = "zig" below [targets.{}], or build it on {} and import the stage: '
    "latebind stage --import FOLDER."
)
def test_the_machines_compiler_for_another_target(tiny, start_in, advised):
    edit(tiny / "latebind.toml", '["linux-x64"]', '["linux-x64", "linux-arm64"]')
    write_setting(tiny / "latebind.toml", "targets.linux-arm64", "toolchain", '"host"')
    refused = start_in("build", "--target", "linux-arm64", at=tiny)
    change = list_settings(advised(refused))
    write_setting(tiny / "latebind.toml", "targets.linux-arm64", "toolchain", change["toolchain"])
    assert_success(start_in("build", "--target", "linux-arm64", at=tiny))


@pytest.mark.advice('{}, or write toolchain = "zig" below [targets.{}].')
def test_no_compiler_of_the_machine(tiny, start_in, advised):
    write_setting(tiny / "latebind.toml", "targets.linux-x64", "toolchain", '"host"')
    without = {**os.environ, "CC": "nosuch-cc"}
    refused = start_in("build", at=tiny, env=without)
    change = list_settings(advised(refused))
    write_setting(tiny / "latebind.toml", "targets.linux-x64", "toolchain", change["toolchain"])
    assert_success(start_in("build", at=tiny, env=without))


PYPROJECT = "python/tiny/pyproject.toml"


@pytest.mark.advice("Remove these fields from [project], and list their names in `dynamic`: {}.")
def test_a_version_in_two_places(tiny, start_in, advised):
    text = (tiny / PYPROJECT).read_text("utf-8")
    fixed = text.replace("[project]\n", '[project]\nversion = "9"\n').replace('"version"', "").replace("[, ", "[")
    (tiny / PYPROJECT).write_text(fixed, encoding="utf-8")
    refused = start_in("pack", at=tiny)
    assert advised(refused).endswith("`dynamic`: version.")
    (tiny / PYPROJECT).write_text(text, encoding="utf-8")
    assert_success(start_in("pack", at=tiny))


@pytest.mark.parametrize("change", [lambda folder: (folder / "setup.py").unlink(), None])
@pytest.mark.advice('Remove the file, or add exclude = ["/setup.py"] to [tool.hatch.build.targets.sdist].')
def test_an_sdist_with_a_setup_py(tiny, start_in, advised, change):
    (tiny / "python/tiny/setup.py").write_text("", encoding="utf-8")
    edit(tiny / PYPROJECT, 'only-include = ["src", "LICENSE"]', "")
    refused = start_in("pack", at=tiny)
    value = list_settings(advised(refused))["exclude"]
    if change:
        change(tiny / "python/tiny")
    else:
        write_setting(tiny / PYPROJECT, "tool.hatch.build.targets.sdist", "exclude", value)
    assert_success(start_in("pack", at=tiny))


@pytest.mark.advice("Correct project.readme in {}.")
def test_a_readme_that_is_not_text(tiny, start_in, advised):
    write_setting(tiny / "latebind.toml", "project", "readme", '"LIESMICH.md"')
    edit(tiny / PYPROJECT, "dynamic = [", 'dynamic = ["readme", ')
    (tiny / "LIESMICH.md").write_bytes(b"F\xfcgt hinzu.\n")
    (tiny / "README.md").write_text("Adds.\n", encoding="utf-8")
    refused = start_in("pack", at=tiny)
    assert advised(refused).endswith("latebind.toml.")
    write_setting(tiny / "latebind.toml", "project", "readme", '"README.md"')
    assert_success(start_in("pack", at=tiny))


# ---- SBOMs of other people's wheels ----


@pytest.fixture
def wheel(packed_once, tmp_path):
    """A wheel without latebind's own SBOM."""
    [packed] = (packed_once / "dist").glob("*.whl")
    (tmp_path / "with space").mkdir()
    return shutil.copy(packed, tmp_path / "with space")


@pytest.mark.parametrize("option", ["--output", "--force"])
@pytest.mark.advice("Add another SBOM with --force. This replaces only an SBOM that latebind added.")
def test_a_wheel_with_an_sbom(wheel, tmp_path, start_in, advised, option):
    refused = start_in("sbom", wheel, "--output", "out", at=tmp_path)
    assert list_options(advised(refused)) == ["--force"]
    assert_success(start_in("sbom", wheel, "--output", "out", "--force", at=tmp_path))


@pytest.mark.advice("Name another folder with --output, or replace the wheel with --force.")
def test_a_wheel_that_would_be_replaced(wheel, tmp_path, start_in, advised):
    plain = tmp_path / "plain" / Path(wheel).name
    plain.parent.mkdir()
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(plain, "w") as new:
        for item in old.infolist():
            if "/sboms/" not in item.filename:
                new.writestr(item, old.read(item))
    words = ("sbom", plain)
    refused = start_in(*words, "--output", plain.parent, at=tmp_path)
    assert list_options(advised(refused)) == ["--output", "--force"]
    assert_success(start_in(*words, "--output", "out", at=tmp_path))
    assert_success(start_in(*words, "--output", plain.parent, "--force", at=tmp_path))


@pytest.mark.advice("For example: --part libfoo@1.2.3='Foo project'.")
def test_a_part_without_a_version(wheel, tmp_path, start_in, advised):
    words = ("sbom", wheel, "--output", "out", "--force")
    refused = start_in(*words, "--part", "libfoo", at=tmp_path)
    example = shlex.split(advised(refused).partition(": ")[2].rstrip("."))
    assert_success(start_in(*words, *example, at=tmp_path))


@pytest.mark.advice("See all problems: latebind audit {}")
def test_a_wheel_that_is_unsafe(wheel, tmp_path, start_in, advised):
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("../outside.txt", "x")
    refused = start_in("sbom", wheel, "--output", "out", at=tmp_path)
    [[_, *words]] = list_commands(advised(refused))
    audited = start_in(*words, at=tmp_path)
    assert audited.returncode == 1
    assert "outside.txt" in audited.stdout


@pytest.mark.parametrize("choice", ["before", "--force"])
@pytest.mark.advice("Add the SBOM before signing, or remove the signature with --force.")
def test_a_signed_wheel(wheel, tmp_path, start_in, advised, choice):
    unsigned = shutil.copy(wheel, tmp_path)
    info = next(name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" in name).partition("/")[0]
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr(f"{info}/RECORD.jws", "{}")
    words = ("sbom", "--output", "out")
    assert list_options(advised(start_in(*words, wheel, at=tmp_path))) == ["--force"]
    assert_success(start_in(*words, unsigned if choice == "before" else wheel, "--force", at=tmp_path))


# ---- verify, as far as nothing is installed ----


@pytest.fixture
def engine(tmp_path, start_in):
    """A new project, packed for this machine."""
    assert_success(start_in("new", "engine", at=tmp_path))
    return tmp_path / "engine"


@pytest.mark.advice("List them all: latebind verify --list.")
def test_a_word_that_no_test_case_has(engine, start_in, follow):
    assert_success(start_in("pack", "--target", "linux-x64", at=engine))
    refused = start_in("verify", "-k", "nosuch", at=engine)
    assert "works" in assert_success(follow(refused, at=engine))


@pytest.mark.advice(
    "Repeat -k for alternatives: -k win -k osx. To match several words at once, write a glob for the id: "
    "-k '*/win-*/*-1.2*/*'. To leave test cases out: -k '!win'."
)
def test_an_expression(engine, start_in, advised):
    assert_success(start_in("pack", "--target", "linux-x64", at=engine))
    words = ("verify", "--list", "--all")
    refused = start_in(*words, "-k", "win or osx", at=engine)
    advice = shlex.split(advised(refused).partition(": ")[2].replace(". ", " "))
    patterns = [advice[at + 1].rstrip(".") for at, word in enumerate(advice) if word == "-k"]
    assert patterns == ["win", "osx", "*/win-*/*-1.2*/*", "!win"]
    for pattern in ("linux", "*/linux-*/*-1.2*/*", "!win"):  # of a target that is here
        assert_success(start_in(*words, "-k", pattern, at=engine))


@pytest.mark.advice(
    "Wheels need verify.python, NuGet packages verify.dotnet or verify.c, npm packages verify.node, JARs verify.java, "
    "SDK archives verify.sdk."
)
def test_nothing_to_verify(tiny, start_in, advised):
    edit(tiny / "latebind.toml", 'wheel = { source = "python/tiny" }\n', "")  # pip tries the sdist of any wheel
    assert_success(start_in("pack", at=tiny))
    refused = start_in("verify", "--list", at=tiny)
    assert "verify.c" in advised(refused)
    write_setting(tiny / "latebind.toml", "verify", "c", '"native"')
    assert_success(start_in("verify", "--list", at=tiny))


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param("nosuch", marks=pytest.mark.advice(
            "Name the folder that contains the packages. latebind pack makes them in dist/.")),
        pytest.param("native", marks=pytest.mark.advice("Make them: latebind pack.")),
    ],
)  # fmt: skip
def test_verify_without_packages(engine, start_in, follow, folder):
    words = ("verify", "-k", "wheel/linux-x64", "-k", "nosuch", "--dist")
    refused = start_in(*words, folder, at=engine)
    assert refused.returncode == 2
    assert_success(follow(refused, at=engine))
    assert is_gone(refused, start_in(*words[:1], "-k", "nosuch", "--dist", "dist", at=engine))


@pytest.mark.advice("Pack again: latebind pack --target all. Or check out the sources that they were made from.")
def test_verify_of_older_packages(engine, start_in, follow):
    edit(engine / "latebind.toml", "include = [", 'include = ["linux-x64"] # [')
    assert_success(start_in("pack", "--target", "all", at=engine))
    edit(engine / "native/engine.c", "#include", "/* new */\n#include", 1)
    words = ("verify", "-k", "*/works", "--dist", "dist")
    refused = start_in(*words, at=engine)
    assert_success(follow(refused, at=engine))
    assert_success(start_in(*words, at=engine))
