"""Checks of a configuration that types cannot express: names that must exist, valid versions, plain texts, sources."""

from __future__ import annotations

import re
from keyword import iskeyword
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.utils import canonicalize_name
from packaging.version import Version

from latebind.config.config import BACKEND
from latebind.config.described import DISTRIBUTION, problems, version_problems
from latebind.config.document import AUTHOR
from latebind.config.ecosystems import package_keys
from latebind.config.package import SdkConfig
from latebind.config.reader import Reader, format_key, nearest
from latebind.config.verification import ANY_VERSION
from latebind.errors import LatebindError
from latebind.registry import collect
from latebind.semver import version_of
from latebind.tables.presets import library_files, presets
from latebind.tables.targets import targets
from latebind.tables.wheelkinds import PYTHONS, kind_problem
from latebind.text import DOCS, printable
from loadcheck import Rid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.config.described import DescribedRuntime
    from latebind.config.document import ProjectTable
    from latebind.config.package import WheelConfig
    from latebind.config.reader import Key
    from latebind.config.runtime import RuntimeUse
    from latebind.config.verification import Verify, VerifyOwn

_MINOR = re.compile(r"^3\.\d+$")
_CMAKE_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._+-]*$")
"""The form that CMake's names of packages, variables and targets share."""
_ENTRIES = ("minimum", "each-minor", "latest")
_FREE = (("audit", "waive"), ("native", "define"))
"""Where texts of several lines are useful: reports escape reasons, and CMake gets definitions as they are."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters, line ends, and what reorders the text around it."""
_SEPARATORS = "/\\:"
_BACKENDS = ("hatchling.build", BACKEND)
"""The build backends that run latebind's hooks. A project may wrap one in a backend of its own (`backend-path`)."""
_HATCHLING = (
    'Write build-backend = "hatchling.build", requires = ["hatchling>=1.29", "latebind>=0.1"] and latebind\'s two '
    f"hooks: {DOCS}/howto/adopt.md"
)


def check_config(config: Config, reader: Reader) -> None:
    """All of it that needs no file."""
    document = config.document
    _check_project(document.project, reader)
    for rid in document.targets.include:
        reader.check_known(("targets", "include"), rid, "a target", targets())
        platform, glibc = targets().get(Rid(rid)), document.targets.glibc
        if platform is not None and platform.libc == "glibc" and Version(glibc) < Version(platform.floor):
            text = f"{rid} cannot be built for glibc {glibc}: the oldest is {platform.floor}"
            reader.problem(("targets", "glibc"), text, f'Write glibc = "{platform.floor}" or newer.')
    for rid in document.targets.options:
        reader.check_known(("targets", rid), rid, "a target", targets())
        _check_excluded(config, reader, rid)
    _check_runtimes(config, reader)
    _check_verify(config, reader)
    _check_release(config, reader)
    _check_packages(config, reader)


def _check_excluded(config: Config, reader: Reader, rid: str) -> None:
    here, excluded = ("targets", rid, "exclude"), config.excluded(rid)
    for name in excluded:
        reader.check_known(here, name, "a package of this project", config.packages)
    if rid in config.document.targets.include and set(config.packages) <= set(excluded):
        reader.problem(
            here, f"{rid} has no package left", f"Remove {rid} from targets.include, or a name from this list."
        )
    for name, package in config.packages.items():
        needed = [other for other in package.requires if other in excluded]
        if needed and name not in excluded:
            text = f"{name} is made for {rid} but requires {needed[0]}, which is excluded"
            reader.problem(here, text, f"Exclude {name} as well, or remove {needed[0]} from this list.")


def _check_project(project: ProjectTable, reader: Reader) -> None:
    version = version_of(project.version)
    release = re.escape(".".join(map(str, version.release))) if version else ""
    if version is None:
        reader.problem(("project", "version"), f"{project.version!r} is not a version", "Write it as 1.2.3.")
    elif not re.fullmatch(rf"(\d+!)?{release}([^\d\s]\S*)?", project.version):
        text = (
            f"{project.version!r} is another spelling of {version}, and some kinds of packages accept only the latter"
        )
        reader.problem(("project", "version"), text, f'Write version = "{version}".')
    for author in project.authors:
        if not AUTHOR.fullmatch(author):
            advice = 'Write the name, or the name with an address: "Jane Doe <jane@acme.org>".'
            reader.problem(("project", "authors"), f"{author!r} is not the name of an author", advice)
    try:
        canonicalize_license_expression(project.license or "MIT")
    except InvalidLicenseExpression:
        advice = "Write an SPDX identifier, such as MIT or Apache-2.0, or LicenseRef-NAME for a license of your own."
        reader.problem(("project", "license"), f"{project.license!r} is not an SPDX license expression", advice)


def _check_release(config: Config, reader: Reader) -> None:
    here, unverified = ("release", "unverified"), config.document.release.unverified
    kinds = {str(consumer.kind) for consumer in collect("consumer", "CONSUMERS")} if unverified else set[str]()
    for key in unverified:
        kind, slash, rid = key.partition("/")
        if kinds:  # the copy of latebind in an sdist has no consumers
            reader.check_known(here, kind, "a kind of package", kinds)
        if slash and rid not in config.document.targets.include:
            text = f"{rid!r} in {key!r} is not a target of this project"
            reader.problem(here, text, nearest(rid, config.document.targets.include))


def _check_verify(config: Config, reader: Reader) -> None:
    verify = config.document.verify
    for rid in verify.each_minor:
        reader.check_known(("verify", "each_minor"), rid, "a target", targets())
    for minor in verify.pythons:
        if not _MINOR.match(minor):
            reader.problem(("verify", "pythons"), f"{minor!r} is not a minor version of CPython", 'Write it as "3.11".')
    tables: dict[tuple[Key, ...], Verify | VerifyOwn] = {("verify",): verify}
    tables |= {("verify", "own", name): own for name, own in verify.own.items()}
    for where, table in tables.items():
        _check_versions(reader, where, table)
    first, *others = [runtime.name for runtime in config.document.runtime] or [""]
    if verify.data is not None and set(verify.data.requires) - {ANY_VERSION}:
        for name in (name for name in others if verify.own.get(name) is None or verify.own[name].data is None):
            text = f"the versions in verify.data.requires are versions of {first}, not of {name}"
            reader.problem(("verify", "data", "requires"), text, f"Add [verify.own.{name}] with data of its own.")


def _check_versions(reader: Reader, where: tuple[Key, ...], table: Verify | VerifyOwn) -> None:
    """Check the versions of the runtime that are keys."""
    for version in table.at_least:
        if version_of(version) is None:
            advice = 'Write the runtime version from which the number applies: { "1.19" = 1000 }.'
            reader.problem((*where, "at_least"), f"{version!r} is not a version", advice)
    for version in table.data.requires if table.data is not None else ():
        if version != ANY_VERSION and version_of(version) is None:
            advice = 'Write the runtime version from which they apply, { "1.19" = ["onnx==1.16.2"] }, or default.'
            reader.problem((*where, "data", "requires"), f"{version!r} is not a version", advice)


def _check_packages(config: Config, reader: Reader) -> None:
    for name, package in config.packages.items():
        if package.wheel is not None:
            _check_names(config, reader, name, package.wheel)
        kind = package.wheel.kind if package.wheel is not None else "py3-none"
        titles = [key.title for key in package_keys() if key.name in package.tables]
        elsewhere = "NuGet" if package.nuget is not None else next(iter(titles), "")
        if wrong := kind_problem(name, kind, config.module_kind, elsewhere=elsewhere) or _pythons_problem(config, name):
            reader.problem(("package", name, "wheel"), *wrong)
        for table, settings in package.tables.items():
            for key, text, advice in settings.problems():
                reader.problem(("package", name, table, key), f"package.{name}.{table}.{key}: {text}", advice)
        _check_sdk(config, reader, name)
        others = [other for other in config.packages if other != name]
        for other in package.requires:
            reader.check_known(("package", name, "requires"), other, "another package of this project", others)
        if all(map(_is_known, config.document.runtime)):
            _check_bound(config, reader, name)


def _check_names(config: Config, reader: Reader, name: str, wheel: WheelConfig) -> None:
    """Check the names of a wheel's distribution and of its module."""
    here = ("package", name, "wheel")
    if config.packages[name].hosted is None and not (wheel.source or wheel.name):
        advice = 'Write source = the folder of its pyproject.toml; or, if your own build makes the wheel, name = "...".'
        reader.problem(here, "the wheel has neither source nor name", advice)
    elif not DISTRIBUTION.match(config.wheel_name(name)):
        text = f"{config.wheel_name(name)!r} is not the name of a distribution"
        reader.problem(here, text, f"Set package.{name}.wheel.name.")
    if not _is_module(wheel.module_name):
        text = f"{wheel.module_name!r} is not the name of a Python module"
        reader.problem((*here, "module_name"), text, "Write it as in an import statement: cv2, or acme.vision.")


def _is_module(name: str) -> bool:
    """Whether Python can import a name; also true for ""."""
    return not name or all(part.isidentifier() and not iskeyword(part) for part in name.split("."))


def _pythons_problem(config: Config, name: str) -> tuple[str, str] | None:
    """What is wrong with the CPythons that a package's wheel names, and what to do; None if nothing is wrong."""
    wheel = config.packages[name].wheel
    if wheel is None:
        return None
    if wrong := next((python for python in wheel.pythons if not PYTHONS.match(python)), ""):
        text = f"package.{name}.wheel.pythons: {wrong!r} is not a version of CPython"
        return text, 'Write versions such as "3.10", and "3.13t" for a free-threaded one.'
    if wheel.pythons and wheel.kind != "cpython":
        text = f"package.{name}.wheel.pythons lists CPythons, but wheels of kind {wheel.kind} also support others"
        return text, 'Write kind = "cpython", or remove pythons.'
    if len(set(wheel.pythons)) != len(wheel.pythons):
        return f"package.{name}.wheel.pythons names a CPython twice", "Remove one of them."
    if wheel.kind == "cpython" and wheel.kinds != config.module_kinds:
        text = f"package.{name}.wheel.pythons differs from another package's"
        return text, "One native build makes all modules: give all packages with modules the same list."
    return None


def _check_bound(config: Config, reader: Reader, name: str) -> None:
    """Check that the runtime of a package is one of the project's."""
    package, used = config.packages[name], [runtime.name for runtime in config.document.runtime]
    if package.runtime:
        reader.check_known(("package", name, "runtime"), package.runtime, "a [[runtime]] of this project", used)
    if package.wheel is not None and package.runtime in ("", *used):
        _check_supply(config, reader, name, package.wheel)


def _check_supply(config: Config, reader: Reader, name: str, wheel: WheelConfig) -> None:
    """Check how the user of a wheel gets the runtime: by a dependency, by an extra, or apart."""
    here = ("package", name, "wheel")
    asked = "extras" if wheel.extras == "channels" else "a required runtime" if wheel.runtime == "required" else ""
    if asked and config.runtime_of(name) is None:
        text = f"package {name} asks for {asked} but binds no runtime"
        reader.problem(here, text, f'Add runtime = "..." to [package.{name}].')
    elif wheel.extras == "channels" and wheel.runtime == "required":
        text = f"package {name} requires a distribution of the runtime, and has extras that install another one over it"
        reader.problem((*here, "extras"), text, "Remove extras or runtime from the table wheel.")


def _check_sdk(config: Config, reader: Reader, name: str) -> None:
    package, here = config.packages[name], ("package", name, "sdk")
    if not package.sdk:
        return
    if package.hosted is not None:
        text = f"package {name} is a plugin, which no program links"
        reader.problem(here, text, "Remove sdk: the other packages contain all that a program needs.")
    elif config.wheel_kind(name) not in ("", "py3-none"):
        text = f"package {name} contains a Python module, which no program links"
        reader.problem(here, text, "Write sdk = true for a package with a library of its own.")
    elif not _CMAKE_NAME.match(config.project.name):
        text = f"{config.project.name!r} cannot be the name of a CMake package"
        reader.problem(("project", "name"), text, "Write it with letters, digits and . _ + - only, or remove sdk.")
    if isinstance(package.sdk, SdkConfig) and package.sdk.soversion != config.soversion:
        text = f"package {name} has soversion {package.sdk.soversion}, but another package has {config.soversion}"
        reader.problem((*here, "soversion"), text, "Use the same number: one SDK archive contains all packages.")


def _check_runtimes(config: Config, reader: Reader) -> None:
    """All of it that needs no file."""
    for index, runtime in enumerate(config.document.runtime):
        here: tuple[Key, ...] = ("runtime", index)
        for keys, text, advice in version_problems("minimum", runtime.minimum):
            reader.problem((*here, *keys), text, advice)
        if runtime.describe is None:
            _check_preset(reader, runtime, here)
        else:
            _check_described(config, reader, runtime, runtime.describe, here)
        _check_drop_in(reader, runtime, here)
    names = [runtime.name for runtime in config.document.runtime]
    for index, name in enumerate(names):
        if name and name in names[:index]:
            reader.problem(("runtime", index), f"{name} is a [[runtime]] twice", "Keep one of them.")
    if all(map(_is_known, config.document.runtime)):  # one cause, one problem
        _check_tried(config, reader, names)
        _check_used(config, reader, names)


def _check_used(config: Config, reader: Reader, names: Sequence[str]) -> None:
    """A runtime that no package binds would get test cases, in which its absence changes nothing."""
    if any(package.runtime not in ("", *names) for package in config.packages.values()):  # reported there
        return
    bound = [config.runtime_of(name) for name in config.packages]
    for index, runtime in enumerate(config.document.runtime):
        if runtime not in bound:
            package = next(iter(config.packages))
            advice = f'Write runtime = "{runtime.name}" below [package.{package}], or remove the [[runtime]].'
            reader.problem(("runtime", index), f"no package binds {runtime.name}", advice)


def _is_known(runtime: RuntimeUse) -> bool:
    """Whether its name is one that other keys can refer to; an unknown preset is a problem of its own."""
    return runtime.describe is not None or runtime.preset in presets()


def _list_presets() -> tuple[str, ...]:
    return (*presets(), *library_files())


def _check_preset(reader: Reader, runtime: RuntimeUse, here: tuple[Key, ...]) -> None:
    if not runtime.preset:
        text = "a runtime has neither preset nor description"
        advice = f"Write preset = one of {', '.join(_list_presets())}, or describe it below [runtime.describe]."
        reader.problem(here, text, advice)
        return
    reader.check_known((*here, "preset"), runtime.preset, "a known runtime", _list_presets())
    preset, minimum = presets().get(runtime.preset), version_of(runtime.minimum)
    if preset is not None and minimum is not None and minimum < Version(preset.floor):
        reader.problem(
            (*here, "minimum"),
            f"{preset.title} {runtime.minimum} cannot be the minimum: {preset.floor_reason}",
            f'Write minimum = "{preset.floor}".',
        )


def _check_drop_in(reader: Reader, runtime: RuntimeUse, here: tuple[Key, ...]) -> None:
    if runtime.drop_in and runtime.describe and runtime.describe.stub is None:
        advice = f"List its functions below [runtime.describe.stub], or use a preset: {', '.join(_list_presets())}."
        reader.problem((*here, "drop_in"), f"there is no stub of {runtime.name}", advice)
    elif runtime.headers and not runtime.drop_in:
        text = "headers has an effect only with drop_in"
        reader.problem((*here, "headers"), text, "Write drop_in = true, or remove headers.")


def _check_described(
    config: Config, reader: Reader, runtime: RuntimeUse, described: DescribedRuntime, here: tuple[Key, ...]
) -> None:
    if runtime.preset:
        text = f"a runtime has both the preset {runtime.preset} and a description"
        reader.problem((*here, "preset"), text, "Remove preset or [runtime.describe].")
    if not any((described.python, *(variant.python for variant in described.variants))):
        text = "no wheel supplies the runtime, so nothing can be verified"
        reader.problem(
            (*here, "describe"), text, 'Write python = { folder = "thing/lib", extras = { cpu = "thing" } }.'
        )
    platforms = (targets().get(Rid(rid)) for rid in config.document.targets.include)
    for keys, text, advice in problems(
        described, runtime.minimum, [platform.system for platform in platforms if platform is not None]
    ):
        reader.problem((*here, "describe", *keys), f"{format_key((*here, 'describe', *keys))}: {text}", advice)


def _check_tried(config: Config, reader: Reader, names: Sequence[str]) -> None:
    verify = config.document.verify
    for key, name in [*(("own", name) for name in verify.own), *(("runtimes", name) for name in verify.runtimes)]:
        reader.check_known(("verify", key, name), name, "a [[runtime]] of this project", names)
    for name, versions in verify.runtimes.items():
        for version in versions:
            if version not in _ENTRIES and version_of(version) is None:
                advice = nearest(version, _ENTRIES)
                reader.problem(("verify", "runtimes", name), f"{version!r} is not a version", advice)


def check_texts(raw: dict[str, Any], reader: Reader) -> None:
    """Check that keys and texts are plain lines, and that the project's name can be part of a file name."""
    for path, text in _list_texts(raw, ()):
        if _CONTROL.search(text):
            key = printable(format_key(path))
            reader.problem(path, f"{key} has line breaks or control characters", "Write it as one plain line.")
    project = raw.get("project")
    name = project.get("name", "") if isinstance(project, dict) else ""
    if isinstance(name, str) and set(_SEPARATORS) & set(name):
        text = f"project.name contains one of {' '.join(_SEPARATORS)}, but file names contain the project's name"
        reader.problem(("project", "name"), text, "Remove the character from the name.")


def _list_texts(value: Any, path: tuple[Key, ...]) -> Iterator[tuple[tuple[Key, ...], str]]:
    """All keys and texts of a table, each with its place."""
    if path[:2] in _FREE or (path[:1] == ("targets",) and path[2:3] == ("define",)):
        return
    if isinstance(value, str):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if isinstance(key, str):
            yield (*path, key), key
        yield from _list_texts(inner, (*path, key))


def check_source(config: Config, reader: Reader) -> None:
    """Check that native source and headers exist, and that wheels have the names of their sources."""
    document = config.document
    source = config.native_source
    if not source.resolve().is_relative_to(config.root):
        reader.problem(("native", "source"), f"the native source {document.native.source} is outside {config.root}")
    elif config.is_built_elsewhere:
        _check_external(config, reader)
    elif not (config.cmake_source / "CMakeLists.txt").is_file():
        key = "cmake" if document.native.cmake else "source"
        folder = "/".join(filter(None, [document.native.source, document.native.cmake]))
        reader.problem(
            ("native", key),
            f"the native source {folder}/CMakeLists.txt does not exist",
            f"Set native.{key} to the folder of the top-level CMakeLists.txt. If another build system makes the native "
            'files, write build = "external" below [native].',
        )
    for index, runtime in enumerate(document.runtime):
        if runtime.headers and runtime.drop_in and not (source / runtime.headers).is_dir():
            headers = PurePosixPath(document.native.source, runtime.headers)
            reader.problem(
                ("runtime", index, "headers"),
                f"the folder {runtime.headers} does not exist",
                f"Name the folder of the headers, or run: latebind headers {runtime.name} {runtime.minimum} "
                f"--output {headers}",
            )
    if not config.unpacked:  # an sdist has the wheel source of one package alone
        _check_wheel_sources(config, reader)


def _check_external(config: Config, reader: Reader) -> None:
    """Check that the folder is there, and that nothing is set that only a build by latebind could follow."""
    native = config.document.native
    if not config.native_source.is_dir():
        text = f"the native source {native.source} is not a folder"
        reader.problem(("native", "source"), text, 'Name the folder of the native code, such as source = "src".')
    for key in ("cmake", "sources", "define", "hide", "symbols"):
        if getattr(native, key):
            text = f'native.{key} has no effect with build = "external"'
            reader.problem(("native", key), text, f"Remove {key}, and set it in your own build.")


def _check_wheel_sources(config: Config, reader: Reader) -> None:
    for name, source in config.wheel_sources.items():
        path = config.root / source / "pyproject.toml"
        tables = _read_pyproject(path)
        own_name, wheel_name = _find(tables, "project", "name"), config.wheel_name(name)
        if own_name and canonicalize_name(own_name) != canonicalize_name(wheel_name):
            shown = PurePosixPath(source, "pyproject.toml")
            message = f"the wheel is named {own_name} in {shown}, but {wheel_name} in {config.file.name}"
            reader.problem(("package", name, "wheel"), message, f'Set package.{name}.wheel.name = "{own_name}".')
        backend = _find(tables, "build-system", "build-backend") or "setuptools"
        if own_name and backend not in _BACKENDS and not _find(tables, "build-system", "backend-path"):
            message = f"{backend} does not run latebind's hooks, which put the native files into the wheel"
            where = f"{path}: build-system.build-backend"
            reader.problems.append(LatebindError(message, where=where, advice=_HATCHLING))


def _read_pyproject(path: Path) -> dict[str, Any]:
    """A pyproject.toml's tables; no tables where others will report what is wrong."""
    try:
        return msgspec.toml.decode(path.read_text("utf-8-sig"))  # type: ignore[no-any-return]
    except (OSError, ValueError, RecursionError):
        return {}


def _find(tables: dict[str, Any], table: str, key: str) -> str:
    """The value of a key as text; "" where it isn't there, or the table is none."""
    values = tables.get(table)
    value = values.get(key, "") if isinstance(values, dict) else ""
    return value if isinstance(value, str) else "".join(map(str, value if isinstance(value, list) else ()))
