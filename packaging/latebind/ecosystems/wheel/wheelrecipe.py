"""Makes the recipe of a package's wheel: what it has besides what hatchling puts into it."""

from __future__ import annotations

from pathlib import Path

from latebind import __version__
from latebind.backend.recipe import WheelRecipe
from latebind.backend.targets import targets
from latebind.config.config import Config
from latebind.ecosystems.wheel.metadata import hook_files
from latebind.native.bill import late_of, supplier_of


def wheel_recipe(config: Config, package: str, module: str, distribution: str) -> WheelRecipe:
    """The recipe of a package; `module` is the Python package that gets the native files."""
    project, settings = config.project, config.packages[package]
    wheel, runtime = settings.wheel, config.runtime_of(package)
    return WheelRecipe(
        package=package,
        component=settings.component,
        kind=config.wheel_kind(package),
        kinds=wheel.kinds if wheel else (),
        module=module,
        not_made={rid: why for rid in targets() if (why := config.explain_not_made(package, rid))},
        license_file=Path(project.license_file).name if project.license_file else "",
        tool=__version__,
        sbom=project.sbom,
        purl=f"pkg:pypi/{config.wheel_name(package)}@{project.version}",
        version=project.version,
        license=project.license,
        supplier=supplier_of(project.author_names, project.name),
        companions=settings.companions,
        runtimes=(late_of(runtime),) if runtime else (),
        hook=hook_files(config, package, module, distribution),
    )
