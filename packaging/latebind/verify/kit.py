"""Writes a kit: the packages, their consumers, this latebind, and a script that verifies them with Python alone."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from latebind import __version__
from latebind.backend.tree import list_tree
from latebind.backend.wheelfile import record_digest
from latebind.config.file import FILE_NAME, load, standalone_text
from latebind.config.project import Project
from latebind.errors import InputError, LatebindError
from latebind.fingerprint import LOADCHECK, PACKAGE
from latebind.model import Artifact
from latebind.native.inside import refuse_links_outside
from latebind.system.archive import Entry, write_zip
from latebind.system.files import copy_file
from latebind.system.folders import replacing_folder
from latebind.system.resources import folder as resource_folder
from latebind.system.resources import license_file, messages_page
from latebind.templates import render

if TYPE_CHECKING:
    from latebind.verify.report.data import Provenance

MANIFEST = "kit.json"
"""What the kit's script reads: templates/kit/run.py."""
PACKAGES, PROJECT, TOOLS = "packages", "project", "latebind"
_SCRIPTS = {"run.py": "run.py.in", "verify.sh": "verify.sh", "verify.ps1": "verify.ps1"}
_NAME = "latebind"
_FOLDERS = {_NAME: PACKAGE, "loadcheck": LOADCHECK}
"""The distributions of which a kit has a wheel, with the folders of their modules."""
_EXTRA = "verify"
_DATA = ("templates", "loader")
_WHEEL = "Wheel-Version: 1.0\nGenerator: latebind\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_ADVICE = "Install latebind again, with its extra: pip install 'latebind[verify]'."


def write_kit(
    project: Project, artifacts: Sequence[Artifact], output: Path, source: Provenance, arguments: Sequence[str]
) -> None:
    """Write the kit; `arguments` are those of `latebind verify` on the other computer.

    Raises InputError if `output` is another folder that is not empty, or if a consumer's folder is the project's own.
    """
    with replacing_folder(output, MANIFEST, "a kit") as aside:
        for artifact in artifacts:
            copy_file(artifact.path, aside / PACKAGES / artifact.path.name)
        home = _copy_project(project, aside / PROJECT)
        (aside / TOOLS).mkdir()
        wheels = write_own_wheels(aside / TOOLS)
        pip = find_pip_wheel()
        copy_file(pip, aside / TOOLS / pip.name)
        (aside / TOOLS / "constraints.txt").write_text("\n".join(pin_requirements()) + "\n", encoding="utf-8")
        for name, template in _SCRIPTS.items():
            copy_file(resource_folder("templates") / "kit" / template, aside / name)
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
        copy_file(path, destination / path.relative_to(base))
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


def write_own_wheels(destination: Path) -> list[Path]:
    """The wheels of this latebind, and of its loadcheck, in a folder. Raises LatebindError without their metadata."""
    return [_write_wheel(name, destination) for name in _FOLDERS]


def _write_wheel(name: str, destination: Path) -> Path:
    metadata = {file: text.encode() for file, text in _read_metadata(name).items()}
    version = distribution(name).version
    info = f"{name}-{version}.dist-info"
    files = {**_list_modules(name), **{f"{info}/{file}": data for file, data in metadata.items()}}
    record = "".join(f"{name},{record_digest(data)},{len(data)}\n" for name, data in sorted(files.items()))
    entries = [Entry(name=name, data=data) for name, data in files.items()]
    entries.append(Entry(name=f"{info}/RECORD", data=f"{record}{info}/RECORD,,\n".encode()))
    path = destination / f"{name}-{version}-py3-none-any.whl"
    write_zip(path, entries)
    return path


def pin_requirements() -> list[str]:
    """The versions of everything that latebind needs to verify, as installed here: `msgspec==0.20.0`, sorted."""
    versions: dict[str, str] = {}
    pending = [(_NAME, _EXTRA)]
    done = set()
    while pending:
        name, extra = pending.pop()
        if (name, extra) in done:
            continue
        done.add((name, extra))
        try:
            installed = distribution(name)
        except PackageNotFoundError:  # another system or Python needs it, which chooses the version
            continue
        versions[canonicalize_name(name)] = installed.version
        for requirement in map(Requirement, installed.requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                pending += [(requirement.name, more) for more in ("", *requirement.extras)]
    return [f"{name}=={version}" for name, version in sorted(versions.items()) if name not in _FOLDERS]


def find_pip_wheel() -> Path:
    """The newest wheel of pip that virtualenv has. Raises LatebindError without virtualenv."""
    spec = importlib.util.find_spec("virtualenv")
    wheels = list(Path(spec.origin).parent.glob("seed/wheels/embed/pip-*.whl")) if spec and spec.origin else []
    if not wheels:
        raise LatebindError("no installed virtualenv contains a wheel of pip, which the kit needs", advice=_ADVICE)
    return max(wheels, key=lambda path: Version(path.name.split("-")[1]))


def _list_modules(name: str) -> dict[str, bytes]:
    """The package's files by their names in the wheel, as ci/build_hook.py and pyproject.toml have them."""
    package = _FOLDERS[name]
    files = {
        f"{name}/{path.relative_to(package).as_posix()}": path
        for path in list_tree(package)
        if path.relative_to(package).parts[0] != "_data"
    }
    for data in _DATA if name == _NAME else ():
        root = resource_folder(data)  # type: ignore[arg-type]  # both are names of folders
        files |= {f"{name}/_data/{data}/{path.relative_to(root).as_posix()}": path for path in list_tree(root)}
    if name == _NAME:
        files |= {f"{name}/_data/{path.name}": path for path in (license_file(), messages_page())}
    return {name: path.read_bytes() for name, path in files.items()}


def _read_metadata(name: str) -> dict[str, str]:
    """The texts of the installed distribution that a wheel has, too."""
    texts: dict[str, str] = {}
    with suppress(PackageNotFoundError):
        installed = distribution(name)
        texts = {file: text for file in ("METADATA", "entry_points.txt") if (text := installed.read_text(file))}
    if "METADATA" not in texts:
        message = f"the installed {name} has no package metadata"
        raise LatebindError(message, where=str(_FOLDERS[name]), advice=_ADVICE)
    return {**texts, "WHEEL": _WHEEL}
