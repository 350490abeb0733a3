"""The table `runtime`: a runtime that the native code binds late."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from latebind.backend.targets import target
from latebind.config.described import NUMBERS, DescribedRuntime  # tools read the types of the tables
from latebind.config.reader import Table
from latebind.tables.presets import RuntimePreset, preset


class RuntimeUse(Table, frozen=True, kw_only=True):
    """A runtime that the native code binds late. The code finds it at run time and does not link it."""

    preset: Annotated[str, Meta(description="Preset of the runtime, or none if you describe it.")] = ""
    describe: Annotated[DescribedRuntime | None, Meta(description="Description of a runtime that has no preset.")] = (
        None
    )
    minimum: Annotated[
        str,
        Meta(description="Oldest version that works, for loader, package metadata and verification."),
    ]
    drop_in: Annotated[
        bool,
        Meta(
            description="Whether CMake finds a stub in place of the runtime. Code that links the runtime then needs "
            "no change."
        ),
    ] = False
    headers: Annotated[
        str, Meta(description="Folder of the runtime's own headers for `drop_in`, relative to native.source.")
    ] = ""
    priority: Annotated[
        Literal["required", "recommended", "suggested"],
        Meta(
            description="How much the libraries need the runtime, in the section .note.dlopen, which Linux "
            "distributions read."
        ),
    ] = "recommended"
    libc: Annotated[
        tuple[Literal["glibc", "musl"], ...],
        Meta(description="C libraries on Linux for which your users can get the runtime, besides the preset's."),
    ] = ()
    policy: Annotated[
        Literal["never-linked"], Meta(description="never-linked: the audit reports a linked or bundled runtime.")
    ] = "never-linked"

    @property
    def name(self) -> str:
        """What it is called in this file, in CMake, and in reports."""
        return self.describe.name if self.describe else self.preset

    @property
    def traits(self) -> RuntimePreset:
        """What its preset or description says about the runtime. Raises LatebindError for an unknown preset."""
        return self.describe.preset() if self.describe else preset(self.preset)

    def explain_absent(self, rid: str) -> str:
        """Why it does not exist for a target: it was built for another C library; "" if it does."""
        platform, libc = target(rid), self.libc or self.traits.libc
        if platform.system != "linux" or not libc or platform.libc in libc:
            return ""
        return f"{self.traits.title} exists for {' and '.join(libc)} only, but {rid} uses {platform.libc}"

    @property
    def numbers(self) -> int:
        """How many numbers of its version the library reports; 0 for all."""
        described = self.describe
        if described is None:
            return 0
        return len(described.scale) or {"structure": 3, **NUMBERS}.get(described.version, 0)

    @property
    def has_text(self) -> bool:
        """Whether its library may hold its version as text, which a compiled stand-in for it changes."""
        return self.describe is None or self.describe.version in ("text", "variable", "own")
