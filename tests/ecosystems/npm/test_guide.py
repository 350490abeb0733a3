"""The module that docs/howto/npm.md shows, in the packages of a new project."""

import re

import pytest

from tests.conftest import ROOT
from tests.support.client import MODEL
from tests.support.npm_tools import install
from tests.support.running import CLI, run_checked, run_program

pytestmark = [pytest.mark.slow, pytest.mark.builds]

TABLE = """
[package.demo.npm]
name = "demo"
source = "npm"
dependencies = { koffi = "^3" }
"""
PROGRAM = f"""
const model = new (require("demo").Model)(Buffer.from("{MODEL}", "base64"));
console.log([...model.run([1, 2, 3])]);
model.close();
"""


def read_module():
    """The module of the page that has a name."""
    page = (ROOT / "docs/howto/npm.md").read_text("utf-8")
    return re.search(r"the whole `index.cjs`.*?```js\n(.*?)```", page, re.DOTALL)[1]


def test_the_module_of_the_guide_runs_a_model_and_says_what_to_install(tmp_path):
    project, app = tmp_path / "demo", tmp_path / "app"
    run_checked(*CLI, "new", "demo", cwd=tmp_path)
    (project / "npm").mkdir()
    (project / "npm/index.cjs").write_text(read_module(), encoding="utf-8")
    with (project / "latebind.toml").open("a", encoding="utf-8") as file:
        file.write(TABLE)
    run_checked(*CLI, "-C", project, "pack", "--target", "linux-x64", timeout=600)
    app.mkdir()
    (app / "package.json").write_text('{"private": true}', encoding="utf-8")
    install(app, *sorted((project / "dist").glob("*.tgz")))
    refused = run_program("node", "-e", PROGRAM, cwd=app)
    assert refused.returncode
    [command] = re.findall(r"Get it with: npm install ([\w-]+) ", refused.stderr)
    install(app, command)
    assert run_checked("node", "-e", PROGRAM, cwd=app) == "[ 2, 4, 6 ]\n"
