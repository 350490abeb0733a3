"""Makes the files with which a project's own build compiles the stub: its C file, what build systems read, headers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from latebind.adopt.causes import SUBPROJECT, VENDOR
from latebind.config.runtime import RuntimeUse
from latebind.errors import INPUT_ERRORS
from latebind.headers import extract_headers
from latebind.native.amalgamation import amalgamation
from latebind.native.stublibrary import stub_source
from latebind.system.resources import cmake_dir
from latebind.templates import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from latebind.adopt.ownbuild import Built
    from latebind.tables.presets import RuntimePreset


def make_files(built: Built, runtime: RuntimePreset, minimum: str) -> Mapping[str, bytes]:
    """The new files of a project, by their paths. Raises LatebindError for a runtime without a stub."""
    source, _ = stub_source(RuntimeUse(preset=runtime.name, minimum=minimum, drop_in=True), built.root)
    folder = SUBPROJECT if built.meson else VENDOR
    files = {f"{folder}/{name}": text.encode() for name, text in amalgamation(cmake_dir(), source).items()}
    if not built.meson and not built.targets:
        return files  # setuptools' include_dirs stay as they are
    place, headers = _find_headers(built, runtime)
    values = {"name": runtime.name, "title": runtime.title}
    if built.meson:
        files[f"{folder}/meson.build"] = render("adopt/stub.meson.j2", **values, headers=bool(headers)).encode()
    else:
        up = f"${{CMAKE_CURRENT_LIST_DIR}}/{'../' * (VENDOR.count('/') + 1)}{place}"
        names = source.names
        files[f"{folder}/{runtime.name}.cmake"] = render(
            "adopt/stub.cmake.j2",
            **values,
            packages=names.packages,
            targets=[*names.targets, *(f"{name}::{name}" for name in names.packages), names.library],
            headers=up if place else "${CMAKE_CURRENT_LIST_DIR}/include" if headers else "${CMAKE_CURRENT_LIST_DIR}",
        ).encode()
    return {**files, **{f"{folder}/include/{name}": data for name, data in headers.items()}}


def _find_headers(built: Built, runtime: RuntimePreset) -> tuple[str, Mapping[str, bytes]]:
    """The folder in the project that has the runtime's headers, or the headers that the build found elsewhere.

    What found the library may have found its headers, too, so the stub's files have to supply them.
    """
    header = runtime.stub.header if runtime.stub else ""
    folders = (path for path in _list_searched(built) if header and (path / header).is_file())
    folder = next(folders, None)
    if folder is None:
        return "", {}
    if folder.is_relative_to(built.root):
        return folder.relative_to(built.root).as_posix(), {}
    try:
        return "", extract_headers(runtime, folder).files
    except INPUT_ERRORS:  # the folder has several different ones below it
        return "", {}


def _list_searched(built: Built) -> Iterator[Path]:
    """Where the compiler looked for headers, as CMake's file API and Meson's introspection say."""
    for target in built.targets:
        for group in target.get("compileGroups", ()):
            yield from (Path(include["path"]) for include in group.get("includes", ()))
    if built.meson is not None:
        listed = msgspec.json.decode((built.meson / "meson-info/intro-targets.json").read_bytes())
        sources = (source for target in listed for source in target.get("target_sources", ()))
        options = (option for source in sources for option in source.get("parameters", ()))
        yield from (built.meson / option[2:] for option in options if option.startswith("-I"))
