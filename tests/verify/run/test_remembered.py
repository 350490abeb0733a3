"""Which changes make a test case that passed run again."""

import pytest

from latebind.backend.targets import Rid
from latebind.config.file import load
from latebind.config.project import Project
from latebind.verify.cases.expand import Extent, expand_cases, list_lines
from latebind.verify.run.index import Answers
from latebind.verify.run.remembered import Memory
from tests.support.client import BOUND, write_client

TEXT = BOUND + '\n[verify]\npython = "verify/smoke.py"\n'


def find_key(folder, text=TEXT, pins=("numpy==2.5",)):
    """The key of the first test case of a project in that folder."""
    root = write_client(folder, latebind=text)
    (root / "verify").mkdir(exist_ok=True)
    (root / "verify/smoke.py").write_text("", encoding="utf-8")
    config = load(root / "latebind.toml")
    extent = Extent(pythons={Rid("linux-x64"): "3.11"}, home=Rid("linux-x64"))
    cases = expand_cases(list_lines(config, [Rid("linux-x64")], extent), Answers())
    memory = Memory(Project(config=config, workdir=folder), folder / "passed", (), pins)
    return memory.key(cases[0].case, (), "this machine")


@pytest.mark.parametrize(
    "changed",
    [
        {"text": TEXT.replace('"1.20"', '"1.21"')},
        {"text": TEXT + 'at_least = { "1.19" = 2 }\n'},
        {"pins": ("numpy==2.6",)},
    ],
    ids=["the runtime", "how it is verified", "the installer"],
)
def test_a_pass_is_of_the_same_configuration_and_circumstances(tmp_path, changed):
    assert find_key(tmp_path / "a") == find_key(tmp_path / "b")
    assert find_key(tmp_path / "a") != find_key(tmp_path / "c", **changed)
