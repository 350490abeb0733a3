"""Makes the Python module that finds an installed runtime, for new projects, for existing ones, and for the docs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.templates import render

if TYPE_CHECKING:
    from latebind.tables.presets import RuntimePreset
    from loadcheck import System

FILE_NAME = "_runtime.py"
"""What the module is called in a project's package."""
_PLATFORMS: dict[str, System] = {"linux": "linux", "darwin": "macos", "win32": "windows"}
"""Python's names of systems (sys.platform)."""


def render_runtime_module(runtime: RuntimePreset, distribution: str = "") -> str:
    """The module's text; `distribution` is the project's own if its extra installs the runtime."""
    folders = [(package, below) for package, _, below in (path.partition("/") for path in runtime.python.folders)]
    return render(
        "find_runtime.py.j2",
        title=runtime.title,
        environment=runtime.environment,
        distributions=tuple(runtime.python.extras.values()),
        folders=folders,
        packages=tuple(dict.fromkeys(package for package, _ in folders)),
        files={platform: runtime.list_files(system) for platform, system in _PLATFORMS.items()},
        prefix={platform: runtime.list_prefix_folders(system) for platform, system in _PLATFORMS.items()},
        advice=f'pip install "{distribution}[{runtime.python.extra}]"'
        if distribution
        else f"pip install {runtime.python.distribution}",
    )
