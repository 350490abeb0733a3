"""Sdists with none or two build systems: subjects of LB415."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

from corpus.cases.case import Case

if TYPE_CHECKING:
    from corpus.packages import Bench

HATCH = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
SETUPTOOLS = HATCH.replace("hatchling.build", "setuptools.build_meta")
IN_TREE = HATCH.replace("hatchling.build", "own.backend") + 'backend-path = ["./-own"]\n'
BARE = "[tool.ruff]\n"
NAME = "tiny-1.0.0.tar.gz"


def sdist(**files: str):
    """An sdist with PKG-INFO and files at its root; in a name `_` stands for the dot."""

    def make(bench: Bench):
        path = bench.folder / NAME
        with tarfile.open(path, "w:gz") as archive:
            for name, text in {"PKG_INFO": "Metadata-Version: 2.4\n", **files}.items():
                place = "PKG-INFO" if name == "PKG_INFO" else name.replace("_", ".")
                info = tarfile.TarInfo(f"tiny-1.0.0/{place}")
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
        return [path]

    return make


def case(what, bad, good, severity="error", at=NAME, says=""):
    return Case(code="LB415", what=what, bad=bad, good=good, at=at, says=says, severity=severity)


CASES = [
    case("nothing builds it", sdist(x_py="1"), sdist(x_py="1", pyproject_toml=HATCH), says="neither"),
    case("latebind's with an old setup.py alone", sdist(latebind_toml="", setup_py="1"),
         sdist(latebind_toml="", pyproject_toml=HATCH), says="not latebind"),
    case("latebind's with a pyproject.toml that names no backend",
         sdist(latebind_toml="", setup_py="1", pyproject_toml=BARE), sdist(latebind_toml="", pyproject_toml=HATCH),
         says="names no build backend"),
    case("setup.py alone", sdist(setup_py="1"), sdist(setup_py="1", pyproject_toml=BARE), "warning", says="setuptools"),
    case("setup.py next to another backend", sdist(setup_py="1", pyproject_toml=HATCH),
         sdist(setup_py="1", pyproject_toml=SETUPTOOLS), "warning", "!tiny-1.0.0/setup.py", "second"),
    case("a backend of its own that it lacks", sdist(pyproject_toml=IN_TREE),
         sdist(pyproject_toml=IN_TREE, **{"-own/own/backend_py": "1"}), at="!tiny-1.0.0/pyproject.toml",
         says="names the build backend own.backend, but no folder in backend-path has it"),
]  # fmt: skip
