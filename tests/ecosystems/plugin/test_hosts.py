"""Plugins of other hosts than ONNX Runtime: what they look up, and whether they find what latebind packs."""

import sys

import pytest

from latebind.config.file import load
from latebind.errors import BuildError, ConfigError
from latebind.tables.hosts import hosts
from tests.support.client import copy_client, edit, member, members, pack_project
from tests.support.running import run_checked, run_program

ADBC = """\
import adbc_driver_manager as manager
{}
with manager.AdbcDatabase(driver={}) as database:
    manager.AdbcConnection(database).close()
"""
LOCAL = "import adbc_driver_hello, os; os.environ['ADBC_DRIVER_PATH'] = os.path.dirname(adbc_driver_hello.{})"
JAX = "import jax; print(jax.devices('world'))"


@pytest.fixture
def project(tmp_path):
    return copy_client("plugins", tmp_path / "plugins")


@pytest.fixture
def install(tmp_path):
    """Makes an environment with what requirements install; its Python."""

    def make(*requirements):
        python = tmp_path / "env/bin/python"
        run_checked(sys.executable, "-m", "uv", "venv", "-q", "--allow-existing", tmp_path / "env")
        ended = run_program(sys.executable, "-m", "uv", "pip", "install", "-q", "--python", python, *requirements)
        if ended.returncode:
            pytest.skip(f"not run: the package index cannot be reached: {ended.stderr[-200:]}")
        return python

    return make


@pytest.mark.parametrize(
    ("file", "sought"),
    [("vec0.so", "vec"), ("/usr/lib/libExample5.4.3.so", "example"), ("math_funcs-2.dll", "mathfuncs")],
)
def test_sqlite_makes_the_entry_point_of_the_letters_in_the_file_name(file, sought):
    assert hosts()["sqlite"].list_exports(file.rpartition("/")[2]) == (f"sqlite3_{sought}_init",)


def test_a_plugin_implies_its_name_and_exports(project):
    packages = load(project / "latebind.toml").packages
    assert {name: (package.plugin.name, package.exports) for name, package in packages.items()} == {
        "hello": ("hello", ("AdbcDriverInit",)),
        "world": ("world", ("GetPjrtApi",)),
        "vec": ("vec0", ("sqlite3_vec_init",)),
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"pjrt"', '"pjrd"', "package.world.plugin.host: 'pjrd' is not a host that latebind knows"),
        ('"vec0"', '"0vec"', "package.vec.plugin.name cannot be '0vec'"),
        ('module_name = "vec"', 'source = "python"', "latebind makes package.vec.wheel from package.vec.plugin"),
        ("npm = {", 'nuget = { id = "A", managed = "net" }\nnpm = {', "latebind generates the assembly of package.vec"),
        ("npm = {", 'ep = { id = "a", names = ["A"] }\nnpm = {', "package.vec has the tables ep and plugin"),
    ],
)  # fmt: skip
def test_a_contradiction_is_refused(project, old, new, message):
    edit(project / "latebind.toml", old, new)
    with pytest.raises(ConfigError) as caught:
        load(project / "latebind.toml")
    assert message in str(caught.value)


@pytest.mark.slow
def test_hosts_find_their_plugins(project, install):
    """The ADBC driver by its path and by its manifest; JAX opens the plugin and refuses its version."""
    python = install("adbc-driver-manager", "jax")
    (header,) = (project.parent / "env").rglob("arrow-adbc/adbc.h")
    (project / "native/adbc.h").write_bytes(header.read_bytes())
    pack_project(project)
    install(*(project / "dist").glob("*.whl"))
    lonely = run_program(python, "-c", ADBC.format("", "'hello'"))
    assert "Could not load `hello`" in lonely.stderr
    for lines, driver in (
        ("import adbc_driver_hello as hello", "hello.get_library_path()"),
        (LOCAL.format(f"write_manifest({str(project / 'manifests')!r})"), "'hello'"),
        ("import adbc_driver_hello; adbc_driver_hello.write_manifest()", "'hello'"),
        ("", "'hello'"),  # the manifest is in the environment
    ):
        run_checked(python, "-c", ADBC.format(lines, driver))
    refused = run_program(python, "-c", JAX)
    assert "Plugin PJRT API version 0.7 is older than the minimum" in refused.stderr


@pytest.mark.slow
def test_packages_of_an_extension_name_the_library_and_what_is_next_to_it(project):
    edit(project / "native/CMakeLists.txt", "foreach(name hello world vec)", "foreach(name vec)")
    config = (project / "latebind.toml").read_text()
    head, vec = config.partition("[package.hello]")[0], config[config.index("[package.vec]") :]
    (project / "latebind.toml").write_text(head + vec)
    pack_project(project)
    (wheel,) = (project / "dist").glob("*.whl")
    files = members(wheel)
    assert {"vec/__init__.py", "vec/vec0.so", "vec/words.bin"} <= files.keys()
    assert '.with_name("vec0.so")' in files["vec/__init__.py"].decode()
    main, part = sorted((project / "dist").glob("*.tgz"), key=lambda path: "linux" in path.name)
    assert b"exports.getLoadablePath" in member(main, "/latebind.cjs")
    assert b"{ libraryPath, target, getLoadablePath, load }" in member(main, "/latebind.mjs")
    assert member(part, "/words.bin") == b"weights"
    edit(project / "native/CMakeLists.txt", "OUTPUT_NAME vec0", "OUTPUT_NAME vector")
    with pytest.raises(BuildError, match="SQLite looks up sqlite3_vector_init in a file of this name"):
        pack_project(project)
