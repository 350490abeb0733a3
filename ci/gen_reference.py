"""The reference pages of the site that are made from the product itself, by their path."""

from __future__ import annotations

from pathlib import Path

import reference_c
import reference_cli
import reference_dotnet
import reference_python


def outputs() -> dict[Path, str]:
    """All pages."""
    pages = {"c": reference_c, "cli": reference_cli, "dotnet": reference_dotnet, "python": reference_python}
    return {Path("docs/reference") / f"{name}.md": module.page().rstrip() + "\n" for name, module in pages.items()}
