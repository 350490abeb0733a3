"""The check of names, on code that it must and must not report."""

import pytest

from ci.names import LONGEST, check_folder, check_kinds, check_lengths


def write(folder, text):
    (folder / "part").mkdir()
    (folder / "part" / "module.py").write_text(text)
    return folder / "part"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("row = 1\n", "module.py:1: 'row' does not say what it holds"),
        ("def find(path, *, _kept=None):\n    return path\n", "'_kept' does not say what it holds"),
        ("names = [one for one in 'ab']\n", "'one' does not say what it holds"),
        ("def packed():\n    return 1\n", "module.py:1: 'packed' does not say what it does"),
        ("class A:\n    async def _told(self):\n        return 1\n", "'_told' does not say what it does"),
    ],
)
def test_names_that_say_nothing_are_reported(tmp_path, text, says):
    assert says in "\n".join(check_folder(write(tmp_path, text)))


def test_names_that_say_something_are_not(tmp_path):
    text = "def pack(stages):\n    return [stage.rid for stage in stages]\n\n\ndef test_made():\n    files = pack([])\n"
    text += "\n\nclass A:\n    @property\n    def fixed(self):\n        return 1\n"
    assert check_folder(write(tmp_path, text)) == []


def test_one_right_name_among_many_is_no_problem(tmp_path):
    names = "".join(f"value{number} = 1\n" for number in range(100))
    assert check_folder(write(tmp_path, f"{names}left = 1\n")) == []
    assert check_folder(tmp_path / "part") == []


def test_a_comparison_with_a_kind_is_reported_outside_of_the_ecosystems(tmp_path):
    for name in ("audit", "ecosystems"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("def f(kind):\n    return kind in ('wheel', 'sdk') or kind == 'other'\n")
    (problem,) = check_kinds(tmp_path)
    assert problem.startswith("audit/a.py:2: compares the name of a kind")


def test_a_module_of_many_lines_is_reported(tmp_path):
    folder = write(tmp_path, "value = 1\n" * LONGEST)
    assert check_lengths(folder) == []
    (folder / "module.py").write_text("value = 1\n" * (LONGEST + 1))
    assert check_lengths(folder) == ["part/module.py: has 301 lines, more than 300; move one of its ideas elsewhere"]
