"""Refuses links that would take other files of the machine into a wheel or an sdist that hatchling makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from latebind.build.inside import refuse_links_outside, refuse_named_links
from latebind.config.config import Config
from latebind.ecosystems.wheel.sdist_files import PROJECT_NAME
from latebind.system.tree import list_tree

_FORCED = ("force_include", "shared_data", "shared_scripts", "extra_metadata")
"""Tables of hatchling's configuration that name files and folders, wherever they are."""


def refuse_distribution_links(config: Config, hatch: Any, *, is_sdist: bool) -> None:
    """Raise BuildError, as refuse_links_outside() does, for a file that hatchling would pack.

    `hatch` is hatchling's configuration of the target. An sdist holds links as links, which may not lead out of it.
    """
    root, core = Path(hatch.root), hatch.builder.metadata.core
    files = [Path(file.path) for file in hatch.builder.recurse_selected_project_files()]
    refuse_links_outside(config.root, files, PROJECT_NAME, root if is_sdist else None)
    papers = [root / name for name in (core.readme_path, *core.license_files) if name]  # metadata has their text
    refuse_links_outside(config.root, papers, PROJECT_NAME)
    forced = {root / name for table in _FORCED for name in getattr(hatch, table, ())} if not is_sdist else ()
    for path in forced:
        if path.is_dir():
            refuse_links_outside(config.root, list_tree(path), PROJECT_NAME, named=path)
        else:
            refuse_links_outside(config.root, [path], PROJECT_NAME, named=path.parent)
    if not config.unpacked:
        refuse_named_links(config.root, config.named_files)
