"""Everything that one cell needs to run, gathered; shared by the Python and the .NET consumers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.presets import preset
from latebind.verify.cells import raised_minimum, scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from latebind.config import Config, RuntimeUse
    from latebind.model import Artifact, Cell
    from latebind.verify.supply import Supply

_OTHER_PROCESSOR = {"linux-x64": "aarch64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A cell with its packages and places. `entry` is the runtime version as the configuration writes it."""

    cell: Cell
    config: Config
    use: RuntimeUse | None
    package: str
    """The package that binds the runtime; the first one where none does."""
    entry: str
    artifacts: tuple[Artifact, ...]
    supply: Supply
    work: Path
    log: Path
    python: Path
    """The interpreter that Python environments are made for."""

    def arguments(self) -> tuple[str, ...]:
        """What the scenario adds to the consumer's command line. Makes the file that an explicit path names."""
        name = self.cell.scenario
        if name == "too-old":
            return ("--runtime-minimum", raised_minimum(self.cell.version))
        path = self._explicit_path()
        return ("--runtime-path", str(path)) if path else ()

    def values(self) -> Mapping[str, str]:
        """What the placeholders of the scenario's sentence stand for."""
        if self.use is None:
            return {}
        known = preset(self.use.preset)
        extra, dist = known.python.extra, known.python.distribution
        wheel = self.config.wheel_name(self.package)
        python = self.cell.kind == "wheel"
        return {
            "title": known.title,
            "dist": dist,
            "extra": extra,
            "version": self.cell.version,
            "minimum": self.use.minimum,
            "raised": raised_minimum(self.cell.version) if self.cell.version else "",
            "path": str(self._explicit_path() or ""),
            "install": f'pip install "{wheel}[{extra}]"' if python else f"dotnet add package {known.nuget.ids[0]}",
        }

    def reference(self) -> frozenset[str] | None:
        """The cases that the runtime's own API passes; None where they do not matter or nobody can tell."""
        if self.negative or self.use is None:
            return None
        return self.supply.reference(self.use, self.cell.version, self.entry)

    def at_least(self) -> int:
        """How many cases must pass: what the configuration says from the newest version on that is not too new."""
        known = {Version(version): count for version, count in self.config.document.verify.at_least.items()}
        reached = [version for version in known if self.cell.version and version <= Version(self.cell.version)]
        return known[max(reached)] if reached else 1

    def _explicit_path(self) -> Path | None:
        name = self.cell.scenario
        if self.use is None:
            return None
        library = preset(self.use.preset).names.linux[-1]
        if name == "path-wrong":
            return self.work / "nowhere" / library
        if name == "not-a-library":
            text = self.work / "text" / library
            text.parent.mkdir(parents=True, exist_ok=True)
            text.write_text("This is not a library.\n" * 64, encoding="utf-8")
            return text
        if name == "wrong-architecture":
            return self.supply.library(self.use, self.cell.version, _OTHER_PROCESSOR[self.cell.target])
        return None

    @property
    def negative(self) -> bool:
        """Whether the scenario expects a failure."""
        return scenario(self.cell.scenario).negative
