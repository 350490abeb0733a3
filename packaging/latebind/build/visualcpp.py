"""Compiles the stub of a runtime as a library for Visual C++'s linker: in Microsoft's ABI, without Microsoft's SDK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from latebind.errors import BuildError
from latebind.model import Target
from latebind.system.run import run, tail

VISUAL_CPP_FOLDER = "lib/msvc"
"""Where the library is in a stub's folder."""
_FLAGS = (
    *("-std=c99", "-O2", "-DNDEBUG", "-fstack-protector-strong"),
    *("-s", "-g0", "-mno-incremental-linker-compatible"),  # no paths of this machine, and no time
    "-fno-addrsig",  # nothing that only LLVM's linker reads
    *("-Xclang", "-cfguard-no-checks"),  # lists what control-flow guard may call
)
_TIME_LIMIT = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualCpp:
    """A compiler for Visual C++'s ABI on one target."""

    zig: Path
    target: Target
    headers: Path
    """Our own declarations of what the loader uses of Windows and C."""
    environment: Mapping[str, str]

    def build(self, source: Path, library: Path) -> None:
        """Compile a stub, which is one file, and write the library: one object that needs KERNEL32 and any C runtime.

        Raises BuildError or ToolError.
        """
        compiled = source.with_suffix(".obj")
        library.parent.mkdir(parents=True, exist_ok=True)
        triple = f"{self.target.arch}-windows-msvc"
        flags: list[str | Path] = [*_FLAGS, f"-ffile-prefix-map={source.parent}=source", "-isystem", self.headers]
        steps: list[list[str | Path]] = [
            [self.zig, "cc", "-target", triple, *flags, "-c", source.name, "-o", compiled.name],
            [self.zig, "lib", "-nologo", f"-out:{library}", compiled.name],
        ]
        for step in steps:
            ended = run(step, cwd=source.parent, env=self.environment, timeout=_TIME_LIMIT, check=False)
            if ended.returncode != 0:
                text = f"{source.name} could not be compiled for Visual C++ on {self.target.rid}"
                raise BuildError(f"{text}\n{tail(ended.output)}")
