"""Checks staged libraries against the floor and the exports that their packages promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from latebind.backend.stage import Stage
from latebind.backend.targets import Target, target
from latebind.config.config import Config
from latebind.config.package import list_missing_exports
from latebind.errors import BuildError
from latebind.text import plural
from loadcheck.facts import Image, floors, read_images

_SHOWN = 3
_NAMED = 10


def refuse_broken(config: Config, package: str, stage: Stage) -> None:
    """Refuse a component whose libraries break a promise of its package: the floor, the machine, or the exports.

    Raises BuildError with what breaks it, and the file.
    """
    if (error := newer(stage, stage.libraries(config.packages[package].component))) is not None:
        raise error
    refuse_unexported(config, package, stage)


def newer(stage: Stage, libraries: Iterable[Path]) -> BuildError | None:
    """What is wrong with the first library that needs a newer system than the stage's floor.

    Raises BuildError for a library of another machine.
    """
    platform, floor = target(stage.rid), stage.manifest.floor
    for library in libraries:
        images = read_images(library.read_bytes(), str(library))
        if not any((image.format, image.arch) == (platform.binary_format, platform.arch) for image in images):
            seen = " and ".join(f"{image.format} {image.arch}" for image in images) or "no native code"
            raise BuildError(
                f"{library.name} is {seen}, but {platform.rid} runs {platform.binary_format} {platform.arch}",
                where=str(library),
                advice="Stage the library that was built for this target.",
            )
        for image in images:
            need, reason = _NEEDS[platform.floor_key](image)
            if floors.pad_version(need) > floors.pad_version(floors.numeric(floor)):
                return BuildError(
                    f"{library.name} needs {reason}, but {platform.rid} promises {platform.libc_title} {floor}",
                    where=str(library),
                    advice=_advice(platform, floor, floors.version_text(need)),
                )
    return None


def refuse_unexported(config: Config, package: str, stage: Stage) -> None:
    """Refuse a component whose libraries lack an exact name of the package's `exports`.

    Raises BuildError with the missing names and those that the libraries export.
    """
    listed = config.packages[package].exports
    libraries = stage.libraries(config.packages[package].component)
    images = [image for path in libraries for image in read_images(path.read_bytes(), str(path))]
    missing = list_missing_exports(listed, images)
    if missing:
        exported = sorted({export.name for image in images for export in image.exports}) or ["nothing"]
        more = f" and {len(exported) - _NAMED} more" if len(exported) > _NAMED else ""
        raise config.problem_at(
            f"package.{package}.exports",
            f"package {package} lists {plural(len(missing), 'export')} that {stage.rid} lacks: "
            f"{', '.join(missing)}\n  {', '.join(path.name for path in libraries)} "
            f"{'exports' if len(libraries) == 1 else 'export'} {', '.join(exported[:_NAMED])}{more}",
            f"Export {missing[0]} (default visibility, __declspec(dllexport)); latebind_exports() in CMakeLists.txt "
            f"hides what matches none of its patterns. Or correct package.{package}.exports, in which names with "
            "a wildcard need not match any symbol.",
            BuildError,
        )


def find_exporter(config: Config, package: str, stage: Stage) -> Path:
    """The library that exports what the package lists; the first one where several do."""
    settings = config.packages[package]
    libraries = stage.libraries(settings.component)
    for path in libraries if len(libraries) > 1 else ():
        names = {export.name for image in read_images(path.read_bytes(), str(path)) for export in image.exports}
        if any(fnmatchcase(name, glob) for name in names for glob in settings.exports):
            return path
    return libraries[0]


def _glibc(image: Image) -> tuple[floors.Version, str]:
    version, name = floors.needed_glibc(floors.glibc_versions(image))
    return version, f"{name} because of {', '.join(floors.because(image, name)[:_SHOWN])}"


_NEEDS: Mapping[str, Callable[[Image], tuple[floors.Version, str]]] = {
    "glibc": _glibc,
    "macos": lambda image: (floors.needed_macos(image), f"macOS {image.min_os}"),
    "": lambda _: ((), ""),
}
"""For each setting for floors: the oldest system that an image runs on, and what in the image shows it."""


def _advice(platform: Target, floor: str, need: str) -> str:
    how = platform.floor_advice.format(floor=floor, tag=floor.replace(".", "_"))
    return (
        f'Build it for {platform.libc_title} {floor} ({how}), or write {platform.floor_key} = "{need}" below [targets].'
    )
