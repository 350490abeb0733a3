"""The names of wheels and sdists."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from packaging.tags import Tag
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

from latebind.backend.kinds import abi_tags
from latebind.backend.targets import Rid, installs, target, targets, wheel_tag
from latebind.config.config import Config
from latebind.errors import InputError
from latebind.formats import Identity, made_as
from latebind.model import Artifact
from latebind.tables.wheelkinds import own_abi_kind, own_abi_python

_SUFFIX = ".whl"


def distribution(name: str) -> str:
    """A distribution's name in the names of its files: `foo_bar` for `Foo.Bar`; "" for none.

    packaging.python.org, "Binary distribution format", "Escaping and Unicode".
    """
    return canonicalize_name(name).replace("-", "_")


def tag(kind: str, rid: str, floor: str) -> str:
    """The tag of a wheel: `cp310-abi3-manylinux_2_28_x86_64`.

    The platform is the floor that its libraries were built for, even if they would run on an older system.
    """
    return f"{abi_tags(kind)}-{wheel_tag(target(rid), floor)}"


def wheel_file(name: str, version: str, tag: str) -> str:
    """`tiny-1.0.0rc1-py3-none-win_amd64.whl`."""
    return f"{_stem(name, version)}-{tag}.whl"


def sdist_file(name: str, version: str) -> str:
    """`tiny-1.0.0rc1.tar.gz`."""
    return f"{_stem(name, version)}.tar.gz"


def _stem(name: str, version: str) -> str:
    return f"{distribution(name)}-{Version(version)}"


def wheels_for(rid: Rid, artifacts: Iterable[Artifact], python: str) -> list[Artifact]:
    """The wheels that install on a target with a CPython (`3.11`), by the tags in their names.

    A wheel of one CPython's own ABI counts for that one alone; the installer judges all others.
    """
    return [wheel for wheel in wheels_on(rid, artifacts) if _serves(python, wheel.path.name)]


def wheels_on(rid: Rid, artifacts: Iterable[Artifact]) -> list[Artifact]:
    """The wheels that install on a target with some Python, by the tags in their names."""
    wheels = (artifact for artifact in artifacts if artifact.path.suffix == _SUFFIX)
    return [wheel for wheel in wheels if _installs_on(rid, _tags(wheel.path.name))]


def _serves(python: str, file_name: str) -> bool:
    kinds = {f"{tag.interpreter}-{tag.abi}" for tag in _tags(file_name)}
    return own_abi_kind(python) in kinds or not all(map(own_abi_python, kinds))


def _tags(file_name: str) -> frozenset[Tag]:
    try:
        *_, tags = parse_wheel_filename(file_name)
    except InvalidWheelFilename:  # the installer will report what is wrong with it
        return frozenset({Tag("py3", "none", "any")})
    return tags


def _installs_on(rid: Rid, tags: Iterable[Tag]) -> bool:
    return any(installs(target(rid), tag.platform) for tag in tags)


def _identify_wheel(path: Path) -> Identity:
    try:
        name, version, _, tags = parse_wheel_filename(path.name)
    except InvalidWheelFilename as error:
        raise InputError(str(error), where=str(path)) from error
    rids = (rid for rid in targets() if _installs_on(rid, tags))
    return Identity(name=name, version=str(version), targets=tuple(rids))


def _identify_sdist(path: Path) -> Identity:
    try:
        name, version = parse_sdist_filename(path.name)
    except InvalidSdistFilename as error:
        raise InputError(str(error), where=str(path)) from error
    return Identity(name=name, version=str(version))


def _explain_foreign_wheel(file_name: str, config: Config) -> str:
    try:
        name, version, *_ = parse_wheel_filename(file_name)
    except InvalidWheelFilename:
        return "not a valid wheel name"
    return _explain_other(name, version, config)


def _explain_foreign_sdist(file_name: str, config: Config) -> str:
    try:
        name, version = parse_sdist_filename(file_name)
    except InvalidSdistFilename:
        return "not a valid name of an sdist"
    return _explain_other(name, version, config)


def _explain_other(distribution: str, version: Version, config: Config) -> str:
    """Why a distribution of that version is none of a project's; "" when it is one."""
    if distribution not in {canonicalize_name(config.wheel_name(package)) for package in config.packages}:
        return "of another project"
    if version != Version(config.project.version):
        return f"not of version {config.project.version}"
    return ""


FORMATS = (
    made_as(
        _SUFFIX,
        name_project=lambda config, package: config.wheel_name(package),
        identify=_identify_wheel,
        explain_foreign=_explain_foreign_wheel,
    ),
    made_as(".tar.gz", is_built=True, identify=_identify_sdist, explain_foreign=_explain_foreign_sdist),
)
