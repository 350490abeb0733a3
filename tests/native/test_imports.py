"""Native files from elsewhere: merged when they are of the same sources, refused with the reason when not."""

import json
import os
import shutil
import zipfile

import pytest

from latebind.backend.stage import open_stage
from latebind.backend.targets import target
from latebind.config.project import read_project
from latebind.errors import BuildError, InputError
from latebind.native.builds import needs_compiler
from latebind.native.imports import import_native
from latebind.system.files import sha256
from tests.support.client import (
    CMAKE,
    CONFIG,
    SOURCE,
    copy_packed,
    hashes,
    members,
    pack_project,
    rewritten,
    stage_project,
    write_client,
    write_portable,
)
from tests.support.running import assert_refused, assert_success

TWO = CONFIG + '\n[package.more]\ncomponent = "more"\nexports = ["more_*"]\n'
TWO_CMAKE = CMAKE + CMAKE.partition("\n")[2].partition("\n")[2].replace("tiny.c", "more.c").replace("tiny", "more")


LIBRARY = "tiny/lib/libtiny.so"


def import_files(folder, workdir, *paths, rid=""):
    return import_native(read_project(folder / "latebind.toml", workdir), paths, rid)


class Machine:
    """A project, what one machine made of it, and another working folder, `here`, that takes some of that."""

    def __init__(self, tiny, packed_once, folder):
        self.root, self.workdir, self.folder, self.here = tiny, folder / "machine", folder, folder / "here"
        copy_packed(packed_once, self.workdir)
        self.stage = self.workdir / "stage" / "linux-x64"
        self.library = self.stage / LIBRARY
        self.digests = {path.name: sha256(path) for path in (self.workdir / "dist").glob("[!.]*")}

    def take(self, *paths, rid=""):
        return import_files(self.root, self.here, *paths, rid=rid)

    def copy_stage(self):
        return shutil.copytree(self.stage, self.folder / "copy")

    def edit_manifest(self, change):
        """A copy of the stage whose manifest is changed."""
        file = self.copy_stage() / "manifest.json"
        manifest = json.loads(file.read_text("utf-8"))
        change(manifest)
        file.write_text(json.dumps(manifest), encoding="utf-8")
        return file.parent

    def sources(self):
        """The same native files as a stage, a target's folder, a wheel, and a folder that says nothing of itself."""
        shutil.copytree(self.stage / "tiny", self.folder / "plain" / "tiny")
        return {
            "stage": self.workdir / "stage",
            "target": self.stage,
            "wheel": next((self.workdir / "dist").glob("*.whl")),
            "folder": self.folder / "plain",
        }


@pytest.fixture
def machine(tiny, packed_once, tmp_path):
    return Machine(tiny, packed_once, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stage", "target", "wheel", "folder"])
def test_what_is_imported_gives_the_same_packages(machine, tmp_path, monkeypatch, kind):
    (manifest,) = machine.take(machine.sources()[kind], rid="linux-x64")
    assert manifest.imported

    monkeypatch.setattr("latebind.native.nativebuild.toolchain", lambda *_: pytest.fail("nothing is to be compiled"))
    digests = hashes(pack_project(machine.root, workdir=machine.here))

    if kind == "folder":  # its compiler is unknown, and the SBOMs say so
        assert manifest.toolchain == "unknown toolchain"
        library = "runtimes/linux-x64/native/libtiny.so"
        packages = [folder / "dist" / "Tiny.1.2.3.nupkg" for folder in (machine.here, machine.workdir)]
        assert len({members(package)[library] for package in packages}) == 1
    else:
        assert digests == machine.digests


@pytest.mark.builds
def test_a_library_alone_says_which_target_it_is_for(machine, tmp_path):
    (manifest,) = machine.take(machine.library)
    assert (manifest.rid, [file.path for file in manifest.files]) == ("linux-x64", ["tiny/lib/libtiny.so"])


@pytest.mark.builds
def test_an_add_on_of_node_is_imported_as_a_library_is(machine, tmp_path):
    addon = tmp_path / "tiny.node"
    shutil.copy(machine.library, addon)
    (manifest,) = machine.take(addon)
    assert (manifest.rid, [file.path for file in manifest.files]) == ("linux-x64", ["tiny/lib/tiny.node"])


@pytest.mark.builds
def test_a_dll_alone_goes_where_cmake_installs_it(tmp_path):
    """So it takes the place of the one in a stage that CMake filled."""
    folder = write_portable(tmp_path / "tiny", ["win-x64"])
    stage_project(folder, "win-x64")
    (library,) = (folder / "stage").rglob("tiny.dll")
    import_files(folder, tmp_path / "here", folder / "stage")
    (manifest,) = import_files(folder, tmp_path / "here", library)
    assert [file.path for file in manifest.files if file.path.endswith(".dll")] == ["tiny/bin/tiny.dll"]


@pytest.mark.builds
@pytest.mark.parametrize(
    ("rid", "file", "message", "advice"),
    [
        ("win-x64", "libtiny.so", "for linux-x64, not for win-x64", "Leave --target out, or name linux-x64."),
        ("", "text.so", "is not a native library", "Name the library that was built."),
    ],
)
def test_a_library_of_another_target_is_refused(machine, tmp_path, rid, file, message, advice):
    (machine.library.with_name("text.so")).write_text("text")
    with pytest.raises(InputError, match=message) as refused:
        machine.take(machine.library.with_name(file), rid=rid)
    assert refused.value.advice == advice


@pytest.mark.builds
def test_a_library_for_one_of_two_components_is_refused(tmp_path, tiny, machine):
    write_client(tiny, latebind=TWO)
    with pytest.raises(InputError, match="the library's component is unknown: more, tiny") as refused:
        machine.take(machine.library)
    assert "FOLDER/more/lib/" in refused.value.advice


@pytest.mark.builds
def test_packing_an_import_asks_for_no_compiler(machine, tmp_path, tiny):
    here, linux = machine.here, target("linux-x64")
    assert needs_compiler(read_project(tiny / "latebind.toml", here), linux)
    machine.take(machine.workdir / "stage")
    assert not needs_compiler(read_project(tiny / "latebind.toml", here), linux)
    (tiny / "native" / "tiny.c").write_text("int other;\n", encoding="utf-8")
    assert needs_compiler(read_project(tiny / "latebind.toml", here), linux)


@pytest.mark.builds
def test_an_imported_library_without_an_exact_export_is_not_packed(machine, tmp_path, tiny):
    write_client(tiny, latebind=CONFIG.replace('"tiny_*"', '"tiny_sub", "tiny_*"'))
    machine.take(machine.workdir / "stage")
    with pytest.raises(BuildError, match=r"tiny_sub\n  libtiny\.so exports tiny_add"):
        pack_project(tiny, workdir=machine.here)


@pytest.mark.builds
def test_importing_the_same_again_changes_nothing(machine, tmp_path):
    kinds = machine.sources()
    first = machine.take(kinds["stage"])
    again = machine.take(kinds["target"], kinds["wheel"])
    assert [stage.key for stage in first] == [stage.key for stage in again]


@pytest.mark.slow
@pytest.mark.parametrize("change", [("a + b", "b + a"), ("1.2.3", "1.2.4")], ids=["source", "version"])
def test_other_sources_are_refused_and_nothing_is_written(machine, tmp_path, tiny, change):
    write_client(tiny, tiny=SOURCE.replace(*change), latebind=CONFIG.replace(*change))
    with pytest.raises(BuildError, match=r"built from other sources: their hash is [0-9a-f]{12}, the project's is"):
        machine.take(machine.workdir / "stage")
    assert not machine.here.exists()


@pytest.mark.builds
def test_the_same_target_with_other_bytes_is_refused(machine, tmp_path):
    machine.take(machine.workdir / "stage")
    other = machine.sources()["folder"]
    (other / LIBRARY).write_bytes(machine.library.read_bytes() + b"\0")
    before = (machine.here / "stage" / "linux-x64" / "manifest.json").read_bytes()
    with pytest.raises(
        BuildError, match=r"tiny/lib/libtiny\.so for linux-x64 differs from the same file in"
    ) as refused:
        machine.take(other, rid="linux-x64")
    assert refused.value.advice.endswith("remove its folder: stage/linux-x64.")
    assert (machine.here / "stage" / "linux-x64" / "manifest.json").read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("floor", ["2.31", "2.17", "", "2.28/../../x"])
def test_another_floor_than_the_project_promises_is_refused(machine, tmp_path, floor):
    folder = machine.edit_manifest(lambda manifest: manifest.update(floor=floor))
    with pytest.raises(BuildError, match=f"are for glibc {floor or 'of any version'}, but the project promises 2.28"):
        machine.take(folder)


@pytest.mark.builds
def test_files_that_were_imported_for_an_earlier_floor_are_imported_again(machine, tmp_path, tiny):
    plain, here = machine.sources()["folder"], machine.here
    machine.take(plain, rid="linux-x64")
    write_client(tiny, latebind=CONFIG.replace("2.28", "2.34"))
    with pytest.raises(BuildError, match=r"are for glibc 2\.28, but the project promises 2\.34"):
        stage_project(tiny, workdir=here)
    machine.take(plain, rid="linux-x64")
    assert stage_project(tiny, workdir=here).manifest.floor == "2.34"


@pytest.mark.builds
def test_the_same_bytes_under_another_name_are_another_stage(machine, tmp_path):
    plain = machine.sources()["folder"]
    (first,) = import_files(machine.root, tmp_path / "one", plain, rid="linux-x64")
    (plain / "tiny" / "lib" / "libtiny.so").rename(plain / "tiny" / "lib" / "libother.so")
    (second,) = import_files(machine.root, tmp_path / "two", plain, rid="linux-x64")
    assert first.key != second.key


@pytest.mark.slow
def test_a_wheel_whose_library_was_changed_afterwards_is_refused(machine, tmp_path):
    wheel = machine.sources()["wheel"]
    longer = rewritten(wheel, tmp_path, lambda name, data: (name, data + b"\0" * name.endswith(".so")))
    with pytest.raises(BuildError, match="was changed after it was built") as caught:
        machine.take(longer)
    assert "auditwheel repair --exclude" in caught.value.advice


def test_components_from_two_machines_become_one_stage(tmp_path):
    project = write_client(tmp_path / "two", latebind=TWO, cmakelists=TWO_CMAKE)
    (project / "native" / "more.c").write_text(SOURCE.replace("tiny", "more"), encoding="utf-8")
    complete = stage_project(project, workdir=tmp_path / "machine")
    for name in ("tiny", "more"):
        shutil.copytree(complete.root / name, tmp_path / f"from {name}" / name)

    import_files(project, tmp_path / "here", tmp_path / "from tiny", rid="linux-x64")
    import_files(project, tmp_path / "here", tmp_path / "from more", rid="linux-x64")

    stage = stage_project(project, workdir=tmp_path / "here")
    assert {file.path: file.sha256 for file in stage.manifest.files} == {
        file.path: file.sha256 for file in complete.manifest.files
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda _: None, "there is no such file or folder"),
        (lambda file: file.write_text("x"), "is not a library, wheel or folder"),
        (lambda folder: folder.mkdir(), "there is no manifest.json here, so the target is unknown"),
        (lambda folder: (folder.mkdir(), (folder / "manifest.json").write_text("{}")), "not a manifest"),
        (lambda folder: (folder.mkdir(), (folder / "manifest.json").write_bytes(b"\xff")), "not a manifest"),
    ],
    ids=["absent", "file", "bare", "empty", "garbage"],
)
def test_what_cannot_be_read_is_refused(machine, tmp_path, write, message):
    write(tmp_path / "thing")
    with pytest.raises(InputError, match=message):
        machine.take(tmp_path / "thing")


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        *("../../evil.so", "/etc/evil.so", "/dev/zero", "a\\b/evil.so", "evil.so"),
        *("tiny/\0.so", "./tiny/evil.so", "tiny//evil.so", "C:/tiny/evil.dll"),
    ],
)
def test_a_manifest_cannot_point_outside(machine, tmp_path, path):
    folder = machine.edit_manifest(lambda manifest: manifest["files"][0].update(path=path))
    with pytest.raises(InputError, match="is not in a component's folder"):
        machine.take(folder)
    assert not machine.here.exists()


@pytest.mark.builds
@pytest.mark.parametrize("kind", ["stage", "folder"])
def test_a_link_cannot_import_another_file_of_this_machine(machine, tmp_path, kind):
    folder = machine.copy_stage()
    secret = (folder / LIBRARY).rename(tmp_path / "secret")
    (folder / LIBRARY).symlink_to(secret)
    if kind == "folder":
        (folder / "manifest.json").unlink()
    with pytest.raises(InputError, match="leads through a link to"):
        machine.take(folder, rid="linux-x64")
    assert not machine.here.exists()


@pytest.mark.builds
def test_a_link_to_a_file_of_the_same_folder_is_imported(machine, tmp_path):
    folder = machine.sources()["folder"]
    (folder / LIBRARY).rename(folder / f"{LIBRARY}.1")
    (folder / LIBRARY).symlink_to("libtiny.so.1")
    assert machine.take(folder, rid="linux-x64")


@pytest.mark.builds
@pytest.mark.skipif(os.name == "nt", reason="not run: Windows has no named pipes in folders")
def test_a_pipe_in_a_stage_is_refused_and_not_waited_for(machine, tmp_path):
    folder = machine.copy_stage()
    (folder / LIBRARY).unlink()
    os.mkfifo(folder / LIBRARY)
    with pytest.raises(InputError, match="is not a file"):
        machine.take(folder)


@pytest.mark.builds
def test_a_wheel_of_somebody_else_is_refused(machine, tmp_path):
    with zipfile.ZipFile(tmp_path / "x-1-py3-none-any.whl", "w") as archive:
        archive.writestr("x-1.dist-info/METADATA", "")
    with pytest.raises(InputError, match="does not say what it was built from"):
        machine.take(tmp_path / "x-1-py3-none-any.whl")


@pytest.mark.slow
def test_the_command_lists_what_is_staged(machine, tiny, latebind):
    printed = assert_success(latebind("-C", tiny, "stage", "--import", machine.workdir / "stage"))
    assert "stage/linux-x64  imported, zig 0.17.0  floor 2.28\n  tiny/lib/libtiny.so" in printed
    assert latebind("-C", tiny, "stage").stdout == printed


@pytest.mark.builds
def test_only_the_named_target_of_several_is_imported(tmp_path, latebind):
    rids = ["linux-x64", "win-x64"]
    project = write_portable(tmp_path / "project", rids)
    for rid in rids:
        stage_project(project, rid)
    command = ["-C", project, "--workdir", tmp_path / "here", "stage", "--import", project / "stage"]

    printed = assert_success(latebind(*command, "--target", "win-x64"))

    assert [path.name for path in (tmp_path / "here" / "stage").iterdir()] == ["win-x64"]
    assert "stage/win-x64" in printed
    assert "stage/linux-x64" not in printed
    refused = latebind(*command, "--target", "osx-x64")
    assert_refused(refused, "has files for linux-x64, win-x64, but none for osx-x64", "or name linux-x64, win-x64.")
    assert_refused(latebind(*command, "--target", "win-x46"), "win-x46 is not a target", "Did you mean win-x64?")
    both = assert_success(latebind(*command))
    assert "stage/linux-x64" in both
    assert "stage/linux-x64" not in assert_success(latebind(*command[:-2], "--target", "win-x64"))


@pytest.mark.builds
@pytest.mark.parametrize("kind", ["stage", "target", "wheel"])
def test_files_of_another_target_than_the_named_one_are_refused(machine, tmp_path, kind):
    with pytest.raises(InputError, match="has files for linux-x64, but none for osx-x64"):
        machine.take(machine.sources()[kind], rid="osx-x64")
    assert not machine.here.exists()


MACHINES = [["linux-x64", "linux-arm64"], ["osx-x64", "osx-arm64"], ["win-x64"]]


@pytest.mark.slow
def test_the_stages_of_three_machines_give_the_packages_of_one(tmp_path):
    rids = [rid for machine in MACHINES for rid in machine]
    root = write_portable(tmp_path / "project", rids)
    complete = pack_project(root, workdir=tmp_path / "one machine")
    for number, machine in enumerate(MACHINES):
        project = write_portable(tmp_path / f"checkout {number}", rids)
        for rid in machine:
            stage_project(project, rid)

    here = tmp_path / "here"
    stages = [tmp_path / f"checkout {number}" / "stage" for number in range(len(MACHINES))]
    import_files(root, here, *stages)
    merged = pack_project(root, workdir=here)

    assert len(merged.artifacts) == len(rids) + 2
    assert hashes(merged) == hashes(complete)

    mixed = write_portable(tmp_path / "mixed", rids)
    (mixed / "native" / "more.h").touch()
    stage_project(mixed, "win-x64")
    before = open_stage(here / "stage" / "win-x64").manifest
    with pytest.raises(BuildError, match="built from other sources"):
        import_files(root, here, tmp_path / "checkout 0" / "stage", mixed / "stage")
    assert open_stage(here / "stage" / "win-x64").manifest == before
