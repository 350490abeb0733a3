"""What the first page says was measured or recorded, where it says it from."""

import json
import re
from html import unescape

import msgspec

from ci.gen.session import draw_session
from ci.tutorial import find_recording
from tests.conftest import ROOT
from tests.support.running import CLI, run_program

PAGE = (ROOT / "docs" / "index.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")


def find(pattern, *parts):
    return re.search(pattern, ROOT.joinpath(*parts).read_text("utf-8"))[1]


def test_the_numbers_are_those_that_were_measured():
    versions = set(re.findall(r"onnxruntime-(\d+\.\d+)\.\d+/works", README))
    assert f"**{' to '.join(sorted(versions))}**" in PAGE
    assert f"**{find(r'commands take ([0-9]+) seconds', 'docs', 'tutorial.md')} seconds**" in PAGE


def test_the_packages_of_one_build_are_counted():
    planned = run_program(*CLI, "-C", ROOT / "latenn", "plan", "--target", "all", "--json")
    kinds = [file["kind"] for file in json.loads(planned.stdout)["files"]]
    packages = sum(kinds.count(kind) for kind in ("wheel", "sdist", "nupkg", "npm", "jar", "sdk"))
    assert f"**{packages} packages**" in PAGE
    targets = msgspec.toml.decode((ROOT / "latenn" / "latebind.toml").read_bytes())["targets"]["include"]
    assert (len(targets), "for eight targets" in PAGE) == (8, True)


def test_the_terminal_shows_the_whole_session_as_text():
    rows = {}
    for x, y, text in re.findall(r'<text[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)<', draw_session()):
        rows.setdefault(y, []).append((float(x), unescape(text)))
    shown = ["".join(part for _, part in sorted(row)).replace("\xa0", " ").strip() for row in rows.values()]
    recorded = find_recording(README)
    assert [line for line in shown if line] == [
        "$ latebind new demo && cd demo", *(line.strip() for line in recorded.splitlines() if line)
    ]  # fmt: skip


def test_the_terminal_asks_no_server_for_anything():
    assert "http" not in draw_session().replace("http://www.w3.org/2000/svg", "")
