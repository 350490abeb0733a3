"""Fills in what follows from the `ep` or `plugin` table of a package: exports, wheel, NuGet package and runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from latebind.config.described import read_description
from latebind.config.package import NugetConfig, Package, WheelConfig
from latebind.config.plugin import EP_RUNTIME, PLUGIN_HOSTS
from latebind.config.runtime import RuntimeUse
from latebind.tables.presets import library_files

if TYPE_CHECKING:
    from latebind.config.document import Document
    from latebind.config.plugin import HostedConfig
    from latebind.config.reader import Reader

_LONGEST_SUMMARY = 512
"""Of a summary on PyPI (warehouse, forklift/metadata.py)."""


def expand(document: Document, reader: Reader) -> Document:
    """The document with everything that plugins imply; a key that contradicts it is a problem."""
    packages = {name: _name_plugin(name, package) for name, package in document.package.items()}
    document = replace(document, runtime=tuple(map(_describe, document.runtime)), package=packages)
    for name, package in packages.items():
        _check(name, package, document, reader)
    minimums = {package.ep.minimum: name for name, package in packages.items() if package.ep is not None}
    about = document.project.description.rstrip(".")
    packages = {name: _expand_package(package, about) for name, package in packages.items()}
    if not minimums:
        return replace(document, package=packages)
    if len(minimums) > 1:
        text = "execution providers of one project have different minimums"
        advice = "Use one minimum for all, or a project with its own latebind.toml for each minimum."
        reader.problem(("package", [*minimums.values()][-1], "ep"), text, advice)
    runtime = RuntimeUse(preset=EP_RUNTIME, minimum=next(iter(minimums)))
    return replace(document, package=packages, runtime=(*document.runtime, runtime))


def _describe(runtime: RuntimeUse) -> RuntimeUse:
    """A preset that is a description, as if the project had described it."""
    file = library_files().get(runtime.preset)
    if file is None or runtime.describe is not None:
        return runtime
    return replace(runtime, preset="", describe=read_description(file))


def _name_plugin(name: str, package: Package) -> Package:
    """The package with the name of its plugin, and with what the host looks up in it."""
    plugin = package.plugin
    if plugin is None or plugin.host not in PLUGIN_HOSTS:
        return package
    plugin = replace(plugin, name=plugin.name or name)
    return replace(package, plugin=plugin, exports=package.exports or plugin.exports)


def _expand_package(package: Package, about: str) -> Package:
    ep = package.ep
    if ep is None:
        return replace(package, exports=package.exports or ("*",)) if _is_made_elsewhere(package) else package
    nuget = package.nuget or (NugetConfig(id=ep.nuget_id) if ep.nuget_id else None)
    if nuget is not None and not nuget.description:
        nuget = replace(nuget, description=f"{about or ep.names[0]}. Supports ONNX Runtime {ep.supported}.")
    return replace(
        package,
        exports=package.exports or ep.exports,
        runtime=EP_RUNTIME,
        wheel=WheelConfig(source="", name=ep.distribution),
        nuget=nuget,
    )


def _is_made_elsewhere(package: Package) -> bool:
    """Whether latebind makes no file of the package: another build makes its wheel, and that is all it is."""
    has_wheel = package.wheel is not None and not package.wheel.source
    return has_wheel and package.hosted is None and package.nuget is None and not package.sdk and not package.tables


def _check(name: str, package: Package, document: Document, reader: Reader) -> None:
    here = ("package", name)
    if package.hosted is not None:
        _check_plugin(name, package, package.hosted, document, reader)
    elif not package.exports and not _is_made_elsewhere(package):
        reader.problem(here, f"package.{name}.exports is missing")
    if package.ep is None:
        return
    if any(runtime.name == EP_RUNTIME for runtime in document.runtime):
        text = f"the supported versions of {EP_RUNTIME} are both in [[runtime]] and in package.{name}.ep"
        reader.problem(
            (*here, "ep"), text, "Remove the [[runtime]]: ONNX Runtime passes its functions to an execution provider."
        )
    if package.plugin is not None:
        text = f"package.{name} has the tables ep and plugin"
        reader.problem((*here, "plugin"), text, "Keep ep for ONNX Runtime, or plugin for another host.")
    for table in package.tables:
        text = f"package.{name} is an execution provider, which latebind makes for Python and .NET only"
        reader.problem((*here, table), text, f"Remove the table {table}.")


def _check_plugin(name: str, package: Package, hosted: HostedConfig, document: Document, reader: Reader) -> None:
    """Check what is true of the plugins of all hosts."""
    here, wheel = ("package", name), package.wheel
    table, advice = ("ep", "Remove the table wheel.") if package.ep else ("plugin", "Keep name and module_name only.")
    if wheel is not None and (package.ep or wheel != WheelConfig(name=wheel.name, module_name=wheel.module_name)):
        reader.problem((*here, "wheel"), f"latebind makes package.{name}.wheel from package.{name}.{table}", advice)
    if package.nuget is not None and (package.nuget.managed or package.nuget.runtime):
        text = f"latebind generates the assembly of package.{name}, which requires no runtime"
        reader.problem((*here, "nuget"), text, "Remove managed and runtime.")
    if len(document.project.description) > _LONGEST_SUMMARY:
        text = f"project.description has more than {_LONGEST_SUMMARY} characters, which PyPI refuses in a wheel"
        reader.problem(("project", "description"), text, f"Shorten it; package.{name}.nuget.description may be longer.")
    for key, text, advice in hosted.problems():
        reader.problem((*here, table, key), f"package.{name}.{table}.{key}: {text}", advice)
