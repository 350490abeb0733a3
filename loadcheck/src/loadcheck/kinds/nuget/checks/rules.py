"""Check LB414: the rules that NuGet applies when it packs, each with NuGet's own code.

The rules are those of NuGet.Packaging's `RuleSet.PackageCreationRuleSet` (NuGet/NuGet.Client,
src/NuGet.Core/NuGet.Packaging/Rules), and what its `PackageBuilder` refuses to write: NU1012 and NU5038 to NU5047.
NU5129 is LB411, NU5030 is LB505. The hint about a missing readme is not implemented.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from loadcheck.engine.registry import Hit, Skip, check
from loadcheck.kinds.nuget.builder import CODES, creation_errors, places
from loadcheck.readers.opc import readable_nuspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents
    from loadcheck.readers.opc import ParsedNuspec

    Broken = Iterator[tuple[str, str, str]]
    """The cause, the file inside the package ("" for the nuspec), and what is wrong."""

_BUILD_FILE = re.compile(r"build/(?:([^/]+)/)?[^/]+\.(?:props|targets)", re.IGNORECASE)
_KNOWN_FRAMEWORK = re.compile(
    r"(net(standard|coreapp|framework|core|mf|nano\d*)?[\d.]*(-[a-z]+[\d.]*)?|netstandardapp[\d.]*|uap[\d.]*"
    r"|(win|wp|wpa|sl|silverlight|aspnet|aspnetcore|dnx|dnxcore|dotnet|monoandroid|monotouch|monomac|tizen|portable"
    r"|xamarin\.?\w+|nanoframework)[\w.+-]*|native|any|agnostic)",
    re.IGNORECASE,
)
_LONGEST_PATH = 200
_SAMPLES = {
    "projectUrl": "http://PROJECT_URL_HERE_OR_DELETE_THIS_LINE/",
    "licenseUrl": "http://LICENSE_URL_HERE_OR_DELETE_THIS_LINE/",
    "iconUrl": "http://ICON_URL_HERE_OR_DELETE_THIS_LINE/",
    "tags": "Tag1 Tag2",
    "releaseNotes": "Summary of changes made in this release of the package.",
    "description": "Package description",
}
"""The sample values that `nuget spec` writes for the user to replace."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of NuGet: its code, its severity here, and the function that applies it."""

    code: str
    severity: Severity
    broken: Callable[[Contents, ParsedNuspec], Broken]


@check(
    "LB414",
    "NuGet packing rule broken",
    "warning",
    profiles=("all",),
    because="Older clients cannot read the package, or NuGet ignores a part of it. The finding is a note for NU5048, "
    "NU5106, NU5109, NU5112, NU5125, NU5128 and NU5131.",
    kinds=("nupkg",),
    example="NU5104: the stable package 1.0.0 depends on the prerelease Latenn [0.1.0, 0.2.0-0)",
    fix="Look up the code in NuGet's reference of errors and warnings, which has a fix for each code.",
)
def nuget_rule_broken(package: Contents) -> Iterator[Hit | Skip]:
    """When NuGet packs, it warns about a broken rule, or refuses to pack: part of the package would be ignored.

    Tools that write the archive themselves do not check these rules, so you never see the warnings.
    """
    nuspec_file = None if package.is_symbols else readable_nuspec(package)
    if nuspec_file is None:
        return
    name, spec = nuspec_file
    for rule in RULES:
        for cause, inner, message in rule.broken(package, spec):
            yield Hit(
                cause=f"{rule.code} {cause}",
                inner=inner or name,
                message=f"{rule.code}: {message}",
                evidence=(f"{rule.code} {inner or name}",),
                severity=rule.severity,
            )


def _names(package: Contents) -> list[str]:
    return [file.name for file in package.files]


def _sample_value(_: Contents, spec: ParsedNuspec) -> Broken:
    for key, sample in _SAMPLES.items():
        if spec.fields.get(key) == sample:
            yield key, "", f"{key} is still the sample value {sample!r}"
    if any(
        (dependency.id, dependency.version) == ("SampleDependency", "[1.0]") for dependency in spec.dependencies[:1]
    ):
        yield "dependency", "", "the dependency is still the sample SampleDependency 1.0"


def _unknown_framework(package: Contents, spec: ParsedNuspec) -> Broken:
    language = spec.fields.get("language", "").lower()
    for name in _names(package):
        lib, _, rest = name.partition("/")
        folder, _, inside = rest.partition("/")
        is_known = folder.lower() == language or _KNOWN_FRAMEWORK.fullmatch(folder)
        if lib.lower() == "lib" and inside and not is_known:
            yield folder, name, f"lib/{folder} names no framework, so projects ignore its files"


def _prerelease_dependency(_: Contents, spec: ParsedNuspec) -> Broken:
    version = spec.fields.get("version", "")
    if "-" in version:
        return
    for dependency in spec.dependencies:
        if any("-" in bound for bound in dependency.version.strip("[]()").split(",")):
            why = f"the stable package {version} depends on the prerelease {dependency.id} {dependency.version}"
            yield dependency.id, "", why


def _placeholder_in_use(package: Contents, _: ParsedNuspec) -> Broken:
    names = _names(package)
    for name in names:
        folder, base = posixpath.split(name)
        if base == "_._" and sum(other.lower().startswith(f"{folder.lower()}/") for other in names) > 1:
            yield "", name, "this placeholder for an empty folder is next to other files; remove it"


def _any_version(_: Contents, spec: ParsedNuspec) -> Broken:
    for dependency in spec.dependencies[:1]:  # NuGet checks only the first
        if not dependency.version:
            yield dependency.id, "", f"the dependency {dependency.id} names no version"


def _long_path(package: Contents, spec: ParsedNuspec) -> Broken:
    prefix = f"{spec.fields.get('id', '')}/{spec.fields.get('version', '')}/"
    for name in _names(package):
        if len(prefix) + len(name) > _LONGEST_PATH:
            yield "", name, f"its path in the package cache, {prefix}…, is longer than {_LONGEST_PATH} characters"


def _unknown_license(_: Contents, spec: ParsedNuspec) -> Broken:
    expression = spec.fields.get("license", "")
    if spec.license_type == "expression":
        try:
            canonicalize_license_expression(expression)
        except InvalidLicenseExpression as error:
            yield "", "", f"{expression!r} is not an SPDX license expression: {error}"


def _license_url(_: Contents, spec: ParsedNuspec) -> Broken:
    if spec.fields.get("licenseUrl") and not spec.fields.get("license"):
        yield "", "", "licenseUrl is deprecated; write <license>"


def _icon_url(_: Contents, spec: ParsedNuspec) -> Broken:
    if spec.fields.get("iconUrl") and not spec.fields.get("icon"):
        yield "", "", "iconUrl is deprecated; write <icon> and add the image to the package"


def _no_library(package: Contents, _: ParsedNuspec) -> Broken:
    if _file_frameworks(package):
        return
    matches = [match for name in _names(package) if (match := _BUILD_FILE.fullmatch(name))]
    frameworks = sorted({match[1] for match in matches if match[1]} - {"native", "any", "dotnet"})
    if frameworks:
        names = ", ".join(frameworks)
        text = f"build/ names {names}, but without lib/ the package fits all frameworks; add lib/{frameworks[0]}/_._"
        yield "", "", text


def _groups_differ(package: Contents, spec: ParsedNuspec) -> Broken:
    files, groups = _file_frameworks(package), {short(name) for name in spec.frameworks if name}
    missing, surplus = sorted(files - groups), sorted(groups - files)
    if missing:
        names = ", ".join(missing)
        yield "files", "", f"lib/ or ref/ has files for {names}, but the nuspec has no dependency group for {names}"
    if surplus:
        names = ", ".join(surplus)
        yield (
            "groups",
            "",
            f"the nuspec has a dependency group for {names}, but lib/ and ref/ have no files for {names}",
        )


def _find_undotted(package: Contents, spec: ParsedNuspec) -> Broken:
    named = [*(("", name) for name in spec.frameworks), *places(package)]
    for inner, framework in named:
        if re.fullmatch(r"net[5-9]\d*(-.*)?", framework, re.IGNORECASE):
            yield framework, inner, f"{framework} needs a dot: {framework[:4]}.{framework[4:5] or '0'}"


def _file_frameworks(package: Contents) -> set[str]:
    return {short(framework) for _, framework in places(package)}


def short(framework: str) -> str:
    """The short name of a framework: `netstandard2.0` for `.NETStandard2.0` or `.NETStandard,Version=v2.0`."""
    text = framework.strip().lower().lstrip(".").replace(",version=v", "")
    text = re.sub(r"^netframework", "net", text)
    text = re.sub(r"^net([5-9])(?=\d*(-|$))", r"net\1.", text)
    text = re.sub(r"^(net[5-9]\.)(?=-|$)", r"\g<1>0", text)
    text = re.sub(r"^netcoreapp(?=[5-9]\.|\d\d)", "net", text)
    return text.replace(".", "") if re.fullmatch(r"net[1-4](\.\d+)+", text) else text


def _references(package: Contents, spec: ParsedNuspec) -> Broken:
    """Compare the names in `<references>` with the files of ref/ for each framework; "" stands for every framework."""
    names: dict[str, set[str]] = {}
    for reference in spec.references:
        names.setdefault(short(reference.framework), set()).add(reference.file.lower())
    files: dict[str, set[str]] = {}
    for inner, framework in places(package):
        if inner.lower().startswith("ref/"):
            files.setdefault(short(framework), set()).add(posixpath.basename(inner).lower())
    for framework in sorted((files.keys() | names.keys()) - {""}) if names else ():
        named, present = names.get(framework, names.get("", set())), files.get(framework, set())
        for name in sorted(named ^ present):
            where = "<references>" if name in named else "ref/"
            yield f"{framework} {name}", "", f"{name} is only in {where} for {framework}"
    if not files:
        for name in sorted(names.get("", set())):
            yield name, "", f"{name} is in <references>, but there is no ref/"


def _make_rule(code: str) -> Rule:
    return Rule(
        code,
        "warning",
        lambda package, spec: (refused[1:] for refused in creation_errors(package, spec) if refused[0] == code),
    )


def _files(pattern: str, message: str) -> Callable[[Contents, ParsedNuspec], Broken]:
    """A rule broken by files whose whole name matches a pattern, in upper or lower case."""
    wrong = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda package, _: (("", name, message) for name in _names(package) if wrong.fullmatch(name))


_FOLDERS = r"lib|analyzers|ref|runtimes|native|build|buildcrosstargeting|buildtransitive|tools|contentfiles|embed"
"""Where NU5100 expects assemblies."""
RULES: tuple[Rule, ...] = (
    *map(_make_rule, CODES),
    Rule("NU5048", "note", _icon_url),
    Rule("NU5100", "warning", _files(
        rf"(?!({_FOLDERS})/).*\.(dll|winmd)",
        "projects do not reference an assembly outside lib/; move it to lib/<framework>/")),
    Rule("NU5101", "warning", _files(
        r"lib/[^/]*\.(dll|winmd|exe)",
        "an assembly directly in lib/ is used for every framework; move it to lib/<framework>/")),
    Rule("NU5102", "warning", _sample_value),
    Rule("NU5103", "warning", _unknown_framework),
    Rule("NU5104", "warning", _prerelease_dependency),
    Rule("NU5106", "note", _files(r"lib/winrt(45)?/.*", "the folder name winrt is obsolete; use netcore45")),
    Rule("NU5107", "warning", _files(
        r"(?!tools/init\.ps1\Z)(.*/)?init\.ps1", "NuGet runs init.ps1 only directly in tools/")),
    Rule("NU5108", "warning", _files(r"(?!content/).*\.transform", "a transform outside content/ is not applied")),
    Rule("NU5109", "note", _placeholder_in_use),
    Rule("NU5110", "warning", _files(r"(?!tools/).*\.ps1", "a script outside tools/ is not run")),
    Rule("NU5111", "warning", _files(
        r"tools/(.*/)?(?!(install|uninstall|init)\.ps1\Z)[^/]*\.ps1",
        "NuGet runs only install.ps1, uninstall.ps1 and init.ps1")),
    Rule("NU5112", "note", _any_version),
    Rule("NU5123", "warning", _long_path),
    Rule("NU5124", "warning", _unknown_license),
    Rule("NU5125", "note", _license_url),
    Rule("NU5127", "warning", _no_library),
    Rule("NU5128", "note", _groups_differ),
    Rule("NU5131", "note", _references),
    Rule("NU5501", "warning", _find_undotted),
)  # fmt: skip
"""In the order of their codes."""
