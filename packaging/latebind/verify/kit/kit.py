"""Writes a kit: the packages, their consumers, this latebind, and a script that verifies them with Python alone."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from latebind import __version__
from latebind.build.inside import refuse_links_outside
from latebind.config.file import FILE_NAME, load, standalone_text
from latebind.config.project import Project
from latebind.errors import InputError
from latebind.model import Artifact
from latebind.system.folders import replacing_folder
from latebind.system.resources import folder as resource_folder
from latebind.system.tree import list_tree
from latebind.templates import render
from latebind.verify.kit.own_wheel import find_pip_wheel, pin_requirements, write_own_wheels

if TYPE_CHECKING:
    from latebind.verify.report.report import Provenance

MANIFEST = "kit.json"
"""What the kit's script reads: templates/kit/run.py."""
PACKAGES, PROJECT, TOOLS = "packages", "project", "latebind"
_SCRIPTS = {"run.py": "run.py.in", "verify.sh": "verify.sh", "verify.ps1": "verify.ps1"}


def write_kit(
    project: Project, artifacts: Sequence[Artifact], output: Path, source: Provenance, arguments: Sequence[str]
) -> None:
    """Write the kit; `arguments` are those of `latebind verify` on the other computer.

    Raises InputError if `output` is another folder that is not empty, or if a consumer's folder is the project's own.
    """
    with replacing_folder(output, MANIFEST, "a kit") as aside:
        for artifact in artifacts:
            _copy(artifact.path, aside / PACKAGES / artifact.path.name)
        home = _copy_project(project, aside / PROJECT)
        (aside / TOOLS).mkdir()
        wheels = write_own_wheels(aside / TOOLS)
        pip = find_pip_wheel()
        _copy(pip, aside / TOOLS / pip.name)
        (aside / TOOLS / "constraints.txt").write_text("\n".join(pin_requirements()) + "\n", encoding="utf-8")
        for name, template in _SCRIPTS.items():
            _copy(resource_folder("templates") / "kit" / template, aside / name)
        (aside / "verify.sh").chmod(0o755)
        manifest = {
            "project": source.project,
            "version": source.version,
            "commit": source.commit,
            "latebind": __version__,
            "wheels": [f"{TOOLS}/{wheel.name}" for wheel in wheels],
            "pip": f"{TOOLS}/{pip.name}",
            "home": f"{PROJECT}/{home}" if home else PROJECT,
            "arguments": list(arguments),
        }
        (aside / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        readme = render("kit/README.txt.j2", source=source, packages=[artifact.path.name for artifact in artifacts])
        (aside / "README.txt").write_text(readme, encoding="utf-8")


def _copy_project(project: Project, destination: Path) -> str:
    """Copy the configuration and what verification reads; the place of the configuration in the copy.

    What is above the project's folder stays where it is compared with it.
    """
    config = project.config
    names = config.document.verify.list_scripts().values()
    consumers = [Path(os.path.abspath(config.root / name)) for name in names]  # noqa: PTH100  # resolve() follows links
    files = {file for path in consumers for file in _list_files(project, path)}
    if not config.is_built_elsewhere:
        files.add(config.cmake_source / "CMakeLists.txt")
    base = Path(os.path.commonpath([config.root, *files]))
    home = config.root.relative_to(base)
    for path in sorted(files):
        _copy(path, destination / path.relative_to(base))
    # A configuration whose native source is missing is refused.
    (destination / config.native_source.relative_to(base)).mkdir(parents=True, exist_ok=True)
    (destination / home).mkdir(parents=True, exist_ok=True)
    file = destination / home / FILE_NAME
    file.write_text(standalone_text(config), encoding="utf-8", newline="\n")
    load(file)  # what the other computer will read
    return "" if home == Path() else home.as_posix()


def _list_files(project: Project, path: Path) -> list[Path]:
    """The files of a consumer's folder, or of a script's; of the project's own folder only those next to the script.

    Raises BuildError for a link that would put another file of this machine into the kit.
    """
    root = path if path.is_dir() else path.parent
    if project.config.root.resolve().is_relative_to(root.resolve()):
        if path.is_dir():
            raise InputError("is the project's own folder", where=str(path), advice="Give the consumer its own folder.")
        files = [file for file in root.iterdir() if file.suffix == ".py" and file.is_file()]
    else:
        files = list_tree(root, outputs=project.outputs)
    refuse_links_outside(project.config.root, files, "verify", named=root)
    return files


def _copy(source: Path, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, destination)
