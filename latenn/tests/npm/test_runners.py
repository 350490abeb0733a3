"""latenn's npm package in test runners, which load a module several times in one process, and in worker threads."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.support.npm_tools import install_tools
from tests.support.programs import run_program

LOAD = """
  const model = latenn.load({path!r}, {{ backend: {backend!r} }});
  if (model.backend !== 'echo') throw new Error(model.backend);
  model.close();
"""
JEST = """
for (const name of ['once', 'again']) {{
  test(name, () => {{
    jest.resetModules();
    const latenn = require('@latenn/core');
    {load}
  }});
}}
"""
VITEST = """
import {{ expect, test, vi }} from 'vitest';
for (const name of ['once', 'again']) {{
  test(name, async () => {{
    vi.resetModules();
    const {{ default: latenn }} = await import('@latenn/core');
    {load}
  }});
}}
"""
WORKERS = """
const {{ Worker, isMainThread }} = require('node:worker_threads');
const latenn = require('@latenn/core');
{load}
if (isMainThread) {{
  let left = 4;
  for (let index = 0; index < 4; index += 1) new Worker(__filename).on('exit', (status) => {{
    if (status) process.exitCode = status;
    else if (!--left) console.log('all ended');
  }});
}}
"""
RELOADS = """
for (let index = 0; index < 3; index += 1) {{
  for (const file of Object.keys(require.cache)) if (file.includes('latenn')) delete require.cache[file];
  const latenn = require('@latenn/core');
  {load}
}}
console.log('all ended');
"""


@pytest.fixture
def program(binding):
    """Writes programs from a template into the application; gives its folder."""

    def write(template, *names):
        load = LOAD.format(path=str(binding.model), backend=str(binding.backend))
        for name in names:
            (binding.folder / name).write_text(template.format(load=load))
        return binding.folder

    return write


@pytest.mark.parametrize(("template", "name"), [(WORKERS, "workers.cjs"), (RELOADS, "reloads.cjs")])
def test_it_is_loaded_several_times_in_one_process(program, template, name):
    ended = run_program("node", name, cwd=program(template, name))
    assert ended.stdout == "all ended\n", ended.stderr


@pytest.mark.slow
def test_jest_runs_two_files_in_one_worker(program, kept_builds):
    modules = install_tools(kept_builds)
    folder = program(JEST, "one.test.cjs", "two.test.cjs")
    (folder / "package.json").write_text('{"jest": {"testMatch": ["**/*.test.cjs"]}}')
    ended = run_program("node", modules / "jest" / "bin" / "jest.js", "--runInBand", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    assert "Tests:       4 passed, 4 total" in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["threads", "forks", "vmThreads"])
def test_vitest_runs_two_files_in_one_worker(program, kept_builds, pool):
    modules = install_tools(kept_builds)
    folder = program(VITEST, "one.test.mjs", "two.test.mjs")
    (folder / "node_modules" / "vitest").symlink_to(modules / "vitest")
    command = ("run", "--no-isolate", f"--pool={pool}", "--maxWorkers=1", "--minWorkers=1")
    environment = {**os.environ, "NO_COLOR": "1"}
    ended = run_program("node", modules / "vitest" / "vitest.mjs", *command, cwd=folder, env=environment)
    shutil.rmtree(folder / "node_modules" / ".vite", ignore_errors=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "4 passed" in ended.stdout
