"""How an editable package finds its native files, which do not belong among its sources."""

from __future__ import annotations

from pathlib import Path

from latebind.fill import fill
from loadcheck.archive import write_text


def write_search_path(folder: str, scratch: Path) -> dict[str, str]:
    """Two files with which Python finds them: their paths, and their names in the wheel.

    An editable wheel holds a path to the sources of the package, and the native files below `folder`.
    """
    parts = folder.split("/")
    name = f"_latebind_{'_'.join(parts)}"
    code = fill("editable.py", package=".".join(parts), parts=", ".join(f'"{part}"' for part in parts))
    for suffix, text in ((".py", code), (".pth", f"import {name}\n")):
        write_text(scratch / f"{name}{suffix}", text)
    return {str(scratch / f"{name}{suffix}"): f"{name}{suffix}" for suffix in (".py", ".pth")}
