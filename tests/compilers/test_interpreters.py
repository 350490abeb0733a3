"""Which CPythons are found, and what is asked of them."""

import sys

import pytest

from latebind.compilers.interpreters import Interpreter, choose, interpreters, own_interpreter
from tests.support.running import not_run

OWN = own_interpreter()


def row(**more):
    return Interpreter(path=OWN.path, version="3.11.7", prefix="/", **{"shared": False, **more})


def test_the_one_that_runs_latebind_is_found_and_comes_first():
    pythons = interpreters([OWN.minor])
    assert pythons[0].path.resolve() == OWN.path.resolve()
    assert OWN.version == ".".join(map(str, sys.version_info[:3]))
    assert len({other.path.resolve() for other in pythons}) == len(pythons)


def test_only_minor_versions_that_were_asked_for_are_found():
    assert interpreters(["3.77"]) == ()


def test_what_is_no_cpython_is_passed_over(tmp_path, monkeypatch):
    for name, text in (("python3.77", "#!/bin/sh\necho no\n"), ("python3.78", "#!/bin/sh\nexit 127\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert interpreters(["3.77", "3.78"]) == ()


def test_a_choice_takes_the_first_that_has_what_is_asked_for():
    plain, shared = row(), row(shared=True)
    assert choose([plain, shared]) is plain
    assert choose([plain, shared], shared=True) is shared


@pytest.mark.parametrize(
    ("candidates", "asked", "message"), [([], {}, "CPython"), ([row()], {"shared": True}, "libpython")]
)
def test_none_that_fits_is_not_run(candidates, asked, message):
    with not_run("no-interpreter", message):
        choose(candidates, **asked)


def test_an_interpreter_in_a_closed_folder_is_not_for_everybody(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "closed" / "python").write_bytes(b"")
    hidden = Interpreter(path=tmp_path / "closed" / "python", version="3.11.7", shared=False, prefix="/")
    assert not hidden.public
