"""Builds a copy of a CMake project whose programs link a runtime, with the stub in its place, and looks at them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from latebind.adopt.configured import LIMIT, Link
from latebind.adopt.ownbuild import copy_project, first_error
from latebind.adopt.product import list_stub_commands, read_product
from latebind.adopt.stubs import judge_trial, make_stubs
from latebind.backend.fileapi import list_targets, request_replies
from latebind.backend.toolchain import require
from latebind.native.stubplaces import set_places
from latebind.system.log import LOG
from latebind.system.run import run
from latebind.tables.presets import RuntimePreset, preset


def try_programs(root: Path, scratch: Path, links: Sequence[Link]) -> tuple[bool, tuple[str, ...]]:
    """Whether all programs bind late that were built with the stubs in front, and a line on each.

    `scratch` is a folder in which the copy is built.
    """
    copy, tree = copy_project(root, scratch / "project"), scratch / "tree"
    env = {**os.environ, **set_places(make_stubs(_list_runtimes(links), scratch / "stubs"))}
    programs = sorted({link.target for link in links})
    cmake = require("cmake")
    request_replies(tree)
    steps: list[list[str | Path]] = [
        [cmake, "-S", copy, "-B", tree, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={require('ninja')}"],
        [cmake, "--build", tree, "--target", *programs],
    ]
    for argv in steps:
        with LOG.step("building the programs with the stub", "ran CMake"):
            ended = run(argv, cwd=scratch, env=env, timeout=LIMIT, check=False)
        if ended.returncode:
            error = first_error(ended.output).replace(f"{copy}/", "")
            return False, (f"left: with the stub in its place the build fails: {error}",)
    files = {each["name"]: tree / each["artifacts"][0]["path"] for each in list_targets(tree) if "artifacts" in each}
    return judge_trial({name: read_product(files[name]) for name in programs})


def advise_programs(links: Sequence[Link]) -> tuple[str, str]:
    """What to do with the project's own build."""
    return f"next: {list_stub_commands(_list_runtimes(links))}", "then build again from scratch"


def _list_runtimes(links: Sequence[Link]) -> list[RuntimePreset]:
    return [preset(name) for name in sorted({link.runtime for link in links})]
