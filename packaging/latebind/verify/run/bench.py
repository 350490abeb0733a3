"""Everything that one cell needs to run, gathered; shared by the Python and the .NET consumers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.errors import NotRun
from latebind.verify.plan.machine import host_machine
from latebind.verify.plan.scenarios import scenario
from latebind.verify.plan.situations import Situation, situation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.config.document import RuntimeUse
    from latebind.model import Artifact, Cell
    from latebind.verify.plan.interpreters import Interpreter
    from latebind.verify.plan.machine import Machine
    from latebind.verify.plan.scenarios import Scenario
    from latebind.verify.run.supply import Supply


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A cell with its packages and places. `entry` is the runtime version as the configuration writes it."""

    cell: Cell
    config: Config
    use: RuntimeUse | None
    package: str
    """The package that binds the runtime; the first one where none does."""
    entry: str
    oldest: str
    """The oldest runtime version that the index has for the target, "" when it has none."""
    artifacts: tuple[Artifact, ...]
    supply: Supply
    work: Path
    log: Path
    machine: Machine
    interpreters: tuple[Interpreter, ...]
    """The CPythons of the cell's minor version; the first is the ordinary one."""

    @property
    def scenario(self) -> Scenario:
        """The cell's scenario."""
        return scenario(self.cell.scenario)

    @property
    def python(self) -> Path:
        """The interpreter that this machine's tools are asked with; on this machine, the consumers', too."""
        return self.interpreters[0].path

    @cached_property
    def situation(self) -> Situation:
        """What the scenario sets up; made when it is first asked for. Raises NotRun."""
        return situation(self)

    def older(self) -> str:
        """A runtime version that is older than the cell's. Raises NotRun when the index has none."""
        if not self.oldest or Version(self.oldest) >= Version(self.cell.version):
            raise NotRun("no-distribution", f"the index has no version below {self.cell.version} for this target")
        return self.oldest

    def consumer_words(self) -> tuple[str, ...]:
        """What the scenario adds to the consumer's command line."""
        sample = ("--sample", str(self.scenario.sample)) if self.scenario.sample else ()
        told = self.told() if self.cell.kind == "wheel" else ()
        return (*told, *sample, *self.situation.arguments)

    def told(self) -> tuple[str, ...]:
        """Which of several runtimes the scripts are about; a project with one needs no word for it."""
        several = len(self.config.document.runtime) > 1
        return ("--runtime", self.use.name) if several and self.use is not None else ()

    def data(self) -> Path:
        """The folder of what the consumer computes."""
        return self.supply.data(self.config.tried(self.use).data, self.data_entry())

    def values(self, installed: str = "") -> Mapping[str, str]:
        """What the placeholders of the scenario's sentence stand for; `installed` is the runtime's installed file."""
        if self.use is None:
            return {}
        known = self.use.known
        extra, dist = known.python.extra, known.python.distribution
        wheel = self.config.wheel_name(self.package)
        python = self.cell.kind == "wheel"
        nuget = f"dotnet add package {known.nuget.ids[0]}" if known.nuget.ids else ""
        return {
            "title": known.title,
            "dist": dist,
            "extra": extra,
            "version": self.cell.version,
            "minimum": self.use.minimum,
            "installed": installed,
            "mend": "pip install" if python or not nuget else "dotnet add package",
            "install": f'pip install "{wheel}[{extra}]"' if python else nuget,
            **self.situation.values,
        }

    def binds(self) -> tuple[str, ...]:
        """The runtime versions that may be bound; () for any: other distributions count theirs by themselves."""
        if self.use and self.cell.kind == "wheel" and self.cell.runtime not in ("", self._ordinary()):
            return ()
        return self.situation.binds or (self.cell.version,)

    def _ordinary(self) -> str:
        return self.use.known.python.distribution if self.use else ""

    def reference(self) -> frozenset[str] | None:
        """The cases that the runtime's own API passes; None where they do not matter or nobody can tell."""
        if self.scenario.negative or self.use is None:
            return None
        name = self.cell.runtime if self.cell.kind == "wheel" else self._ordinary()
        version = next(iter(self.binds()), self.cell.version)
        machine = self.machine if self.cell.kind == "wheel" else host_machine(self.python)
        return self.supply.reference(machine, f"{name}=={version}", self.data(), self.told())

    def data_entry(self) -> str:
        """Whose data the consumer computes: an older runtime knows less."""
        return self.situation.entry or self.entry

    def at_least(self) -> int:
        """How many cases must pass: what the configuration says from the newest version on that is not too new."""
        if self.scenario.sample:
            return min(self.scenario.sample // 2, self._all()) or 1
        return self._all()

    def _all(self) -> int:
        known = {Version(version): count for version, count in self.config.tried(self.use).at_least.items()}
        reached = [version for version in known if self.cell.version and version <= Version(self.cell.version)]
        return known[max(reached)] if reached else 1
