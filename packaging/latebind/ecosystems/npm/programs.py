"""The programs that install and run npm packages."""

from __future__ import annotations

from latebind.ecosystems.ecosystem import NeededProgram

PROGRAMS = (
    NeededProgram(
        names=("node", "npm"),
        detail="npm packages are not verified without Node.js and npm",
        fix="Install Node.js, 18 or newer.",
    ),
)
