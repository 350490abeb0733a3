"""Has a project's own build link stubs in the place of its libraries: by what is set for it, which a trial chooses."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.adopt.ownbuild import build_plainly, copy_project, first_error
from latebind.adopt.product import judge_trial, list_stub_commands, read_product
from latebind.backend.targets import host_rid
from latebind.errors import BuildError
from latebind.native.stubplaces import set_places
from latebind.system.run import run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from latebind.adopt.ownbuild import Backend
    from latebind.adopt.product import Product
    from latebind.tables.presets import RuntimePreset

_LIMIT = 1800.0


def enter(root: Path) -> str:
    """The beginning of a command that is to run in a project's folder; "" if the shell is there."""
    here = Path.cwd()
    if root == here:
        return ""
    return f"cd {shlex.quote(str(root.relative_to(here) if root.is_relative_to(here) else root))} && "


def make_stubs(runtimes: Iterable[RuntimePreset], folder: Path) -> Path:
    """Make the stubs of libraries for this machine, by the command that is printed; returns the folder of both.

    Raises BuildError with what that command says.
    """
    for runtime in runtimes:
        described = str(Path(runtime.file).resolve()) if runtime.file else runtime.name
        argv = [sys.executable, "-m", "latebind", "stub", described, "--output", str(folder)]
        ended = run(argv, cwd=folder.parent, timeout=_LIMIT, check=False)
        if ended.returncode:
            message, _, advice = ended.output.rpartition("error: ")[2].partition("\nhelp: ")
            raise BuildError(message.strip(), advice=advice.strip())
    return folder / host_rid()


def try_stubs(
    root: Path, scratch: Path, backend: Backend, product: Product, described: tuple[RuntimePreset, ...]
) -> tuple[str, ...]:
    """Build a project's wheel with stubs in a folder; says what to do if that binds all late, or what is left."""
    scratch.mkdir()
    stubs = make_stubs(product.runtimes, scratch / "stubs")
    copy = copy_project(root, scratch / "project")
    try:
        wheel = build_plainly(backend, copy, scratch, set_places(stubs))
    except BuildError as error:
        return (f"left: with the stub in its place the build fails: {first_error(error.message).strip()}",)
    is_late, tried = judge_trial({wheel.name: read_product(wheel, described)})
    if not is_late:
        return tried
    return (
        f"next: {enter(root)}{list_stub_commands(product.runtimes)}",
        "then build the wheel again, from scratch: without the folder build, if there is one",
        *tried,
    )
