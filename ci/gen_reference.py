"""The reference pages, made from the product itself: the command line's is tracked, the others only the site has."""

from __future__ import annotations

from pathlib import Path

import reference_c
import reference_cli
import reference_dotnet
import reference_python


def outputs() -> dict[Path, str]:
    """The tracked page, by its path in the repository."""
    return {Path("docs/reference/cli.md"): reference_cli.page().rstrip() + "\n"}


def site_pages() -> dict[str, str]:
    """The pages that the site alone has, by their path on it."""
    pages = {"c": reference_c, "dotnet": reference_dotnet, "python": reference_python}
    return {f"reference/{name}.md": module.page().rstrip() + "\n" for name, module in pages.items()}
