"""Names the files of packages, for planning, packing and verifying."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import Version

from latebind.errors import BuildError
from latebind.semver import LARGEST_IN_NPM, semantic_version
from latebind.tables.targets import npm_platform, target, wheel_tag
from latebind.tables.wheelkinds import abi_tags
from loadcheck.facts import SYMBOLS_SUFFIX

if TYPE_CHECKING:
    from latebind.config.document import ProjectTable

WHEEL_MANIFEST = "extra_metadata/latebind.json"
"""Where our wheels carry the manifest of the component that they hold, below .dist-info/."""


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


def nupkg_file(id_: str, version: str) -> str:
    """`Tiny.1.0.0-rc.1.nupkg`. `version` is PEP 440's. Raises BuildError for one that NuGet cannot express."""
    return f"{id_}.{semantic_version(version)}.nupkg"


def snupkg_file(id_: str, version: str) -> str:
    """`Tiny.1.0.0-rc.1.snupkg`, as nupkg_file()."""
    return f"{id_}.{semantic_version(version)}.snupkg"


def part_id(id_: str, rid: str) -> str:
    """The id of the package that holds one target of a split package: `Latenn.runtime.linux-x64`."""
    return f"{id_}.runtime.{rid}"


def npm_version(version: str) -> str:
    """A PEP 440 version in SemVer: `1.0.0-rc.1`. Raises BuildError for one that SemVer cannot express."""
    semantic = semantic_version(version, LARGEST_IN_NPM)
    if semantic.partition("-")[0].count(".") > 2:  # noqa: PLR2004  # NuGet knows a fourth number
        what = "has four numbers" if Version(version).post is None else "is a post-release"
        raise BuildError(f"version {version} {what}, which npm cannot express", advice="Use the form 1.2.3.")
    return semantic


def npm_target(name: str, rid: str) -> str:
    """The npm package that holds one target of another package: `@latenn/core-linux-x64`."""
    return f"{name}-{npm_platform(rid).name}"


def npm_file(name: str, version: str) -> str:
    """`latenn-core-1.0.0-rc.1.tgz` for `@latenn/core`, as `npm pack` names it."""
    return f"{name.removeprefix('@').replace('/', '-')}-{npm_version(version)}.tgz"


def symbols_file(project: ProjectTable, rid: str) -> str:
    """Where the archive of a target's debug symbols is below dist/."""
    return f"symbols/{project.name}-{project.version}-{rid}{SYMBOLS_SUFFIX}"


def sdk_file(project: ProjectTable, rid: str) -> str:
    """`tiny-1.0.0rc1-linux-x64-sdk.tar.gz`; a zip for Windows, the only kind that every Windows opens."""
    kind = "zip" if target(rid).system == "windows" else "tar.gz"
    return f"{project.name}-{Version(project.version)}-{rid}-sdk.{kind}"


def _stem(name: str, version: str) -> str:
    return f"{distribution(name)}-{Version(version)}"
