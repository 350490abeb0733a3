"""Two packs under different circumstances: equal for us, and every difference is found and placed."""

import zipfile

import pytest

from latebind.config.project import read_project
from latebind.errors import LatebindError
from latebind.reproduce import Difference, reproduce
from tests.support.client import CMAKE, CONFIG, PYPROJECT, write_client
from tests.support.running import assert_success


@pytest.mark.slow
def test_the_small_project_is_reproducible(tiny, latebind):
    assert assert_success(latebind("-C", tiny, "reproduce")).splitlines()[-1] == "3 equal, 0 different"
    assert not (tiny / "dist").exists()


@pytest.mark.slow
def test_a_path_in_a_binary_is_found_and_placed(tiny):
    leaky = CMAKE.replace("-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.", '"-DWHERE=\\"${CMAKE_SOURCE_DIR}\\""')
    source = (
        '__attribute__((visibility("default"))) const char* tiny_where(void);\n'
        "const char* tiny_where(void) { return WHERE; }\n"
    )
    npm = CONFIG + 'npm = { name = "tiny" }\n'
    write_client(tiny, latebind=npm, cmakelists=leaky, tiny=source)
    result = reproduce(read_project(tiny / "latebind.toml", tiny), ["linux-x64"])
    files = {difference.file for difference in result.differences}
    assert "tiny-1.2.3-py3-none-manylinux_2_28_x86_64.whl!tiny/libtiny.so" in files
    assert "Tiny.1.2.3.nupkg!runtimes/linux-x64/native/libtiny.so" in files
    assert "tiny-linux-x64-1.2.3.tgz!package/libtiny.so" in files
    assert result.equal == ("tiny-1.2.3.tar.gz", "tiny-1.2.3.tgz")
    assert all(difference.offset > 0 for difference in result.differences if difference.file.endswith(".so"))


HOOKED = PYPROJECT.replace('"src", "LICENSE"]', '"src", "LICENSE", "hook.py"]')
HOOKED += '\n[tool.hatch.build.targets.wheel.hooks.custom]\npath = "hook.py"\n'
HOOK = """
import datetime, os, pathlib
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        pathlib.Path(self.root, "src", "tiny", {name}).write_text(str(datetime.date.today()))
"""


def reproduce_hook(tiny, name):
    """What two packs differ in when a hook writes the date into a file of that name, an expression."""
    write_client(tiny, pyproject=HOOKED)
    (tiny / "python" / "tiny" / "hook.py").write_text(HOOK.format(name=name), encoding="utf-8")
    return reproduce(read_project(tiny / "latebind.toml", tiny), ["linux-x64"])


@pytest.mark.slow
def test_a_file_that_only_one_run_makes_is_told(tiny):
    shown = [str(difference) for difference in reproduce_hook(tiny, "os.environ['USER'] + '.txt'").differences]
    assert any(line.endswith("tiny/one.txt: there / missing") for line in shown), shown
    assert any(line.endswith("tiny/two.txt: missing / there") for line in shown), shown


@pytest.mark.slow
def test_a_date_in_a_package_is_found(tiny):
    result = reproduce_hook(tiny, "'made.txt'")
    if result.not_varied:
        pytest.skip(f"not run: {result.not_varied[0]}")
    assert {difference.file.partition("!")[2] for difference in result.differences if difference.offset >= 0} >= {
        "tiny/made.txt"
    }


@pytest.mark.slow
def test_a_machine_that_cannot_change_the_date_says_so(tiny, monkeypatch):
    monkeypatch.setattr("latebind.reproduce.find_zig", lambda: None)
    result = reproduce(read_project(tiny / "latebind.toml", tiny), ["linux-x64"])
    assert not result.differences
    assert "the date (needs Linux and zig" in result.not_varied[0]


def test_a_run_that_fails_shows_why(tiny):
    write_client(tiny, tiny="int broken(")
    with pytest.raises(LatebindError, match="the native build for linux-x64 failed"):
        reproduce(read_project(tiny / "latebind.toml", tiny), ["linux-x64"])


def test_modes_and_bytes_of_members_are_compared(tmp_path):
    from latebind.reproduce import _compare  # noqa: PLC0415  # its pure part

    for name, mode, data in (("a", 0o644, b"same"), ("b", 0o755, b"same"), ("c", 0o644, b"sane")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            info = zipfile.ZipInfo("x")
            info.external_attr = mode << 16
            archive.writestr(info, data)
    modes = list(_compare(tmp_path / "a", tmp_path / "b", "p"))
    assert modes == [Difference(file="p!x", offset=-1, first="mode 644", second="mode 755")]
    bytes_ = list(_compare(tmp_path / "a", tmp_path / "c", "p"))
    assert bytes_ == [Difference(file="p!x", offset=2, first="'me'", second="'ne'")]
