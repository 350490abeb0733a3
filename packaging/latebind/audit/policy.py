"""What an audit holds packages to, as frozen data; reads no configuration file."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from latebind.errors import LatebindError
from latebind.presets import RuntimePreset, presets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from latebind.model import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A finding that is accepted. `subject` is a glob over the finding's subject."""

    code: str
    subject: str
    reason: str

    def __post_init__(self) -> None:
        """Refuse a waiver that does not say why."""
        if not self.reason.strip():
            raise LatebindError(
                f"the waiver of {self.code} for {self.subject} gives no reason",
                advice="Say in `reason` why the finding is accepted; it is printed with every report.",
            )

    def covers(self, finding: Finding) -> bool:
        """Whether this waiver accepts that finding."""
        return finding.code == self.code and fnmatchcase(finding.subject, self.subject)


def _all_presets() -> tuple[RuntimePreset, ...]:
    return tuple(presets().values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of one audit run. The default suits packages of anybody: all known runtimes, no private rules."""

    runtimes: tuple[RuntimePreset, ...] = field(default_factory=_all_presets)
    minimums: Mapping[str, str] = field(default_factory=dict)
    """Runtime name to the one minimum that every package must declare."""
    exports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What may be exported: glob of a library's file name, or a distribution's or package's name, to symbol globs."""
    twins: tuple[tuple[str, str], ...] = ()
    """Pairs of wheel distribution and NuGet id that hold the same native files."""
    glibc: str = ""
    """The configured floor, for what has no tag of its own: nupkgs, folders, bare files. "" asks nothing."""
    macos: str = ""
    """The same for macOS."""
    waivers: tuple[Waiver, ...] = ()

    def allowed_exports(self, file_name: str, project: str) -> tuple[str, ...] | None:
        """The symbol globs that apply to a library, or None when no rule names it or its package."""
        for key, globs in self.exports.items():
            if fnmatchcase(file_name, key) or (project and key.lower() == project.lower()):
                return globs
        return None
