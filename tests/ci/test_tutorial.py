"""The tutorial's commands are those of the page, and all of them succeed for someone who has nothing."""

import os
import re
import sys
from pathlib import Path

import pytest

from ci import tutorial
from latebind import __version__
from latebind.adopt.new import project_files

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="not run: the tutorial is for Linux")
PAGE = tutorial.PAGE.read_text("utf-8")


def test_commands_are_the_blocks_that_a_reader_pastes():
    page = "`not this`\n\n```bash\ncd a && ls\n```\n\n```text\nnor this\n```\n"
    assert tutorial.commands(page) == ["cd a && ls\n"]


@LINUX
def test_commands_share_a_shell_and_end_with_the_first_that_fails(tmp_path):
    ran = tutorial.follow(["cd / && here=1", "pwd; echo $here $HOME", "ls /nowhere", "echo never"], tmp_path)

    assert [step.status == 0 for step in ran] == [True, True, False]
    assert ran[1].output == f"/\n1 {tmp_path}/home\n"
    assert "nowhere" in ran[2].output


def test_the_measurements_are_written_into_the_page():
    measurements = [
        tutorial.Ran(command="latebind pack\n", status=0, seconds=20.6, output="ä"),
        tutorial.Ran(command="ls\n", status=0, seconds=20.6, output="much"),
    ]
    page = tutorial.fill_measurements(PAGE, measurements)
    assert "The 2 commands take 41 seconds on" in page
    assert "take 21 of these seconds, and print 2 bytes." in page


def test_the_output_of_the_last_commands_is_written_into_the_readme():
    output = "packing ...\ndist/a      1 kB\nlast    line\n"
    many = "".join(f"passed   case {number}     1.0 s  \n" for number in range(9)) + "9 passed\n"
    outputs = {"latebind verify": many}
    steps = [
        tutorial.Ran(command=f"{command}\n", status=0, seconds=1, output=outputs.get(command, output))
        for command in ("cd demo", *tutorial.RECORDED)
    ]
    text = tutorial.record_readme("before\n<!-- recorded: by -->\nold\n<!-- end -->\nafter\n", steps)
    short = "dist/a  1 kB\nlast  line"
    cases = "\n".join(f"passed  case {number}  1.0 s" for number in range(4))
    shown = f"$ latebind pack\n{short}\n\n$ latebind audit\n{short}\n\n$ latebind verify\n{cases}\n…\n9 passed"
    assert text == f"before\n<!-- recorded: by -->\n\n```text\n{shown}\n```\n\n<!-- end -->\nafter\n"


def test_the_readme_shows_what_is_left_and_what_is_new():
    outputs = {
        "latebind audit": "not in dist/: packages for win-x64\n  To pack all: latebind pack\n3 packages: 0 errors\n",
        "latebind verify": "verifying 1 test case …\npassed   a\n1 passed, 0 failed\nNew: rt 1.32, which passed.\n",
    }
    steps = [tutorial.Ran(command=command, status=0, seconds=1, output=text) for command, text in outputs.items()]
    text = tutorial.record_readme("<!-- recorded: by -->\nold\n<!-- end -->\n", steps)
    assert f"$ latebind audit\n{outputs['latebind audit']}\n" in text
    assert "$ latebind verify\npassed  a\n1 passed, 0 failed\nNew: rt 1.32, which passed.\n" in text


def test_the_recording_is_of_this_version():
    readme = tutorial.README.read_text("utf-8")
    assert f"with latebind {__version__} -->" in readme
    assert [f"$ {command}" for command in tutorial.RECORDED] == re.findall(
        r"^\$ latebind \w+$", readme.partition("<!-- recorded")[2].partition("<!-- end")[0], re.MULTILINE
    )


def test_the_readme_has_the_commands_of_the_tutorial():
    """They can be pasted as they are, and a test runs those of the tutorial."""
    readme = tutorial.README.read_text("utf-8")
    first, *_ = blocks = tutorial.commands(readme)
    followed = {line.replace("--quiet ", "") for block in tutorial.commands(PAGE) for line in block.splitlines()}
    assert set(first.splitlines()) <= followed
    assert not re.search(r"^\$ ", "".join(blocks), re.MULTILINE)
    assert "```console" not in readme


def test_the_page_lists_the_files_of_a_new_project():
    table = PAGE.partition("| File | Content |")[2].partition("\n\n")[0]
    named = re.findall(r"`([\w./]+)`", table)
    for path in project_files("demo", "c", "A Person"):
        hidden = path.startswith(".") and not path.startswith(".github")
        is_text = path in ("LICENSE", "CHANGELOG.md")
        assert hidden or is_text or any(path == name or path.startswith(name) for name in named), path


def test_the_page_says_how_many_commands_it_has():
    shown = re.search(r"^The (\d+) commands take (\d+) seconds", PAGE, re.MULTILINE)
    assert int(shown[1]) == len(tutorial.commands(PAGE)) == PAGE.count("```bash")
    assert int(shown[2]) < 300


@LINUX
@pytest.mark.slow
def test_the_tutorial_ends_with_packages_that_are_shown_to_work(tmp_path):
    blocks = tutorial.commands(PAGE)

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    ran = tutorial.follow(blocks, tmp_path, cache)

    if any("No matching distribution" in step.output or "no-index" in step.output for step in ran):
        pytest.skip("not run: the package index cannot be reached")
    assert len(ran) == len(blocks), ran[-1].output[-4000:]
    assert [step.output[-4000:] for step in ran if step.status] == []
    (verified,) = (step.output for step in ran if step.command.startswith("latebind verify"))
    assert re.search(r"^\d+ passed, 0 failed, \d+ not run", verified, re.MULTILINE)
    assert int(re.findall(r"^(\d+) passed", verified, re.MULTILINE)[-1]) >= 8
    assert "nupkg" in verified
    again = tutorial.record_readme(tutorial.README.read_text("utf-8"), ran)
    assert mask(again) == mask(tutorial.README.read_text("utf-8")), "record it again: python -m ci.tutorial --write"


def mask(readme):
    """What the recorded session shows, without what differs from run to run: numbers, and which cases end first."""
    kept = [line for line in tutorial.find_recording(readme).splitlines() if not line.startswith("passed ")]
    return re.sub(r"[\d.]+", "N", "\n".join(kept))
