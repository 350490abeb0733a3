"""What packages are: streams of files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from loadcheck.archive import ZipReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadcheck.archive import ArchiveProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A file whose bytes are not yet read."""

    name: str
    size: int
    mode: int
    blocks: Callable[[], Iterator[bytes]]


class Source(ABC):
    """Something that holds files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[ArchiveProblem] = []
        self.links: list[str] = []

    @abstractmethod
    def files(self) -> Iterator[Raw]:
        """The files, in their stored order."""


class Zip(Source):
    """A wheel, a nupkg or another zip archive."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._zip = ZipReader(path)
        self.problems = self._zip.problems

    def files(self) -> Iterator[Raw]:
        """The members that are files."""
        with self._zip:
            for member in self._zip.members:
                if not member.is_folder:
                    blocks = partial(self._zip.blocks, member.name)
                    yield Raw(name=member.name, size=member.size, mode=member.mode, blocks=blocks)
