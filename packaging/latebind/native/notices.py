"""The notices of all packages that hold libraries with latebind's loader."""

from __future__ import annotations

from collections.abc import Iterable

from latebind.backend.notices import notices
from latebind.backend.stage import Stage
from latebind.config.config import Config
from latebind.system.resources import cmake_dir


def package_notices(config: Config, packages: Iterable[str], stages: Iterable[Stage]) -> dict[str, bytes]:
    """The notices that go with all libraries of some packages for some targets."""
    components = [config.packages[name].component for name in packages]
    libraries = [path for stage in stages for component in components for path in stage.libraries(component)]
    return notices(cmake_dir(), libraries)
