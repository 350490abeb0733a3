"""What a build needs of a project comes out of an sdist as it went in."""

import dataclasses

import pytest

from latebind.backend.cmake import hash_native
from latebind.backend.recipe import NativeRecipe, is_sdist, read_generated, read_recipe, write_recipe
from latebind.backend.tree import list_tree
from latebind.config.file import load
from latebind.config.project import read_project
from latebind.ecosystems.wheel.wheelrecipe import wheel_recipe
from latebind.native.nativerecipe import generate_files, hash_sources, list_loader, native_recipe
from latebind.native.sources import native_files
from latebind.system.resources import cmake_dir
from tests.support.client import BOUND, write_client

OPTIONS = '[targets.win-x64]\ntoolchain = "host"\ndefine = { A = true, B = "two", C = 3 }\n'


def write(folder, files):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def test_a_recipe_is_read_as_it_was_written(tmp_path):
    config = load(write_client(tmp_path / "tiny", latebind=f"{BOUND}\n{OPTIONS}") / "latebind.toml")
    native, wheel = native_recipe(config), wheel_recipe(config, "tiny", "tiny", "tiny")
    generated = {"stubs/x/single/x.c": "int x;\n"}
    write(tmp_path / "sdist", write_recipe(native, wheel, generated))
    assert read_recipe(tmp_path / "sdist") == (native, wheel)
    assert read_generated(tmp_path / "sdist") == generated
    assert native.targets["win-x64"].define == {"A": True, "B": "two", "C": 3}
    assert [late.range for late in wheel.runtimes] == ["vers:generic/>=1.20|<2"]


def test_it_has_nothing_of_runtimes_that_the_project_does_not_use(tmp_path):
    config = load(write_client(tmp_path / "tiny", latebind=BOUND) / "latebind.toml")
    files = write_recipe(native_recipe(config), wheel_recipe(config, "tiny", "tiny", "tiny"), generate_files(config))
    assert list(files) == ["recipe.json"]
    text = files["recipe.json"].decode()
    assert "onnxruntime" in text
    assert not [name for name in ("openvino_c", "litert", "cudart", "libmpi") if name in text]


def test_an_sdist_gets_the_loaders_files_for_the_projects_runtimes(tmp_path):
    def list_names(latebind):
        config = load(write_client(tmp_path / "tiny", latebind=latebind) / "latebind.toml")
        return {path.relative_to(cmake_dir()).as_posix() for path in list_loader(config)}

    ours, theirs = {"include/latebind/openvino.h", "src/openvino.c"}, {"src/litert.c"}
    openvino = BOUND.replace("onnxruntime", "openvino").replace('minimum = "1.20"', 'minimum = "2025.1"')
    bound, other, stub = map(list_names, (BOUND, openvino, f"{BOUND}drop_in = true\n"))
    assert {"LICENSE", "latebindConfig.cmake", "src/loader.c", "src/ort_stub.c", "src/onnxruntime.c"} <= bound
    assert not bound & (ours | theirs | {"tables/ort_api.toml", "README.md", "stub/CMakeLists.txt"})
    assert (other - bound, bound - other) == (ours, set())
    assert stub - bound == {path.relative_to(cmake_dir()).as_posix() for path in list_tree(cmake_dir() / "stub")}


def test_the_stub_of_a_runtime_is_generated_once(tmp_path):
    config = load(write_client(tmp_path / "tiny", latebind=f"{BOUND}drop_in = true\n") / "latebind.toml")
    (stub,) = native_recipe(config).stubs
    generated = generate_files(config)
    assert {f"stubs/{stub.name}/sources/{name}" for name in ("own.c", "common.c")} <= generated.keys()
    assert all(name.startswith(f"stubs/{stub.name}/") for name in generated)


def test_the_hash_of_the_sources_is_that_of_the_tree(tmp_path):
    project = read_project(write_client(tmp_path / "tiny") / "latebind.toml", tmp_path / "tiny")
    recipe, native = native_recipe(project.config), project.config.native_source
    before = hash_sources(project)
    assert hash_native(recipe, native, native_files(project)) == before
    (native / "tiny.c").write_text("int other;\n")
    assert hash_native(recipe, native, native_files(project)) != before


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(NativeRecipe)])
def test_the_hash_of_the_sources_changes_with_each_field_of_the_recipe(tmp_path, name):
    def hash_with(value):
        return hash_native(dataclasses.replace(recipe, **{name: value}), tmp_path, ())

    recipe = native_recipe(load(write_client(tmp_path / "tiny", latebind=BOUND) / "latebind.toml"))
    rows = {rid: dataclasses.replace(row, define={"A": True}) for rid, row in recipe.targets.items()}
    assert hash_with(rows if name == "targets" else "another") != hash_native(recipe, tmp_path, ())


def test_neither_compiler_nor_floor_is_in_the_hash_of_the_sources(tmp_path):
    recipe = native_recipe(load(write_client(tmp_path / "tiny", latebind=BOUND) / "latebind.toml"))
    rows = {rid: dataclasses.replace(row, floor="1", toolchain="host") for rid, row in recipe.targets.items()}
    assert hash_native(dataclasses.replace(recipe, targets=rows), tmp_path, ()) == hash_native(recipe, tmp_path, ())


@pytest.mark.parametrize("lost", ["_latebind/recipe.json", "PKG-INFO"])
def test_only_an_sdist_of_latebind_is_one(tmp_path, lost):
    write(tmp_path, {"_latebind/recipe.json": b"{}", "PKG-INFO": b""})
    assert is_sdist(tmp_path)
    (tmp_path / lost).unlink()
    assert not is_sdist(tmp_path)
