"""The configuration of cibuildwheel: what cannot be written into one is refused; what it does is in tests/ci."""

import msgspec
import pytest

from latebind.config.file import load
from latebind.ecosystems.wheel.cibuildwheel import cibuildwheel_config
from latebind.errors import LatebindError
from tests.support.client import CONFIG, write_client


def write_config(folder):
    return cibuildwheel_config(load(folder / "latebind.toml"), "tiny", "latebind[native]==0.1.0")


@pytest.mark.parametrize(
    "value", ["build-system = 3", "[build-system]\nrequires = [3]", '[build-system]\nrequires = ["=="]']
)
def test_a_build_system_that_is_none_is_refused(tiny, value):
    (tiny / "python" / "tiny" / "pyproject.toml").write_text(value, "utf-8")
    with pytest.raises(LatebindError, match="cannot be read"):
        write_config(tiny)


def test_only_latebind_itself_is_left_out_of_what_the_build_needs(tiny):
    (tiny / "python" / "tiny" / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["latebind[native]>=0.1", "latebind-more", "hatchling"]\n', "utf-8"
    )
    table = msgspec.toml.decode(write_config(tiny))["tool"]["cibuildwheel"]
    assert table["before-build"] == 'pip install "latebind[native]==0.1.0" latebind-more hatchling'


@pytest.mark.parametrize("source", ["../python/tiny", "/python/tiny"])
def test_a_wheel_source_outside_the_project_is_refused(tiny, source):
    write_client(tiny, latebind=CONFIG.replace('"python/tiny"', f'"{source}"'))
    with pytest.raises(LatebindError, match=r"package\.tiny\.wheel\.source = .*: is outside"):
        write_config(tiny)


@pytest.mark.parametrize(
    ("script", "message"), [("absent.py", "does not exist"), ("../outside.py", "is outside"), ("", "")]
)
def test_the_script_that_tries_a_wheel_must_be_in_the_project(tiny, script, message):
    (tiny.parent / "outside.py").touch()
    write_client(tiny, latebind=CONFIG + f'\n[verify]\nwheel = "{script}"\n')
    if not message:
        assert "test-command" not in write_config(tiny)
        return
    with pytest.raises(LatebindError, match=message):
        write_config(tiny)
