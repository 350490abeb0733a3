"""Check LB509: what the page of a package in an index shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.kinds import find_kind

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents


@check(
    "LB509",
    "Metadata that the package's page lacks",
    "note",
    profiles=("all",),
    because="Nothing fails, except that Maven Central refuses an artifact without these metadata.",
    kinds=("wheel", "sdist", "nupkg", "npm", "jar"),
    example="METADATA has no README and no author",
    fix="Name them where the package is described: pyproject.toml, nuspec, package.json or POM. In a project that "
    "latebind builds, set description, readme, authors and repository in [project] of latebind.toml, and list "
    "description, readme, license, authors and urls in `dynamic` of pyproject.toml.",
)
def page_incomplete(package: Contents) -> Hits:
    """Users choose a package by its page: a summary, a README, the authors, the license and a link to the sources.

    `twine check --strict` refuses a wheel or sdist without a README, and NuGet warns of a package without one. Maven
    Central requires a name, a description, a URL, licenses, developers and the place of the sources in each POM. A POM
    with a parent is not judged, because the parent may have them. Many companies reject packages without a license.
    """
    description = find_kind(package.kind).find_description(package)
    if description is None:
        return
    inner, fields = description
    missing = [name for name, is_there in fields.items() if not is_there]
    if missing:
        yield Hit(
            inner=inner,
            message=f"has no {' and no '.join(missing)}",
            evidence=tuple(f"missing: {name}" for name in missing),
        )
