"""Computes the metadata of a wheel, and makes wheels and sdists through the project's PEP 517 backend."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from packaging.version import Version

from latebind.build.extension import fits, refuse_foreign, refuse_interpreter
from latebind.build.promise import refuse_unexported
from latebind.build.requirements import refuse_missing_requirements
from latebind.build.stage import Stage
from latebind.compilers.choose import TOOLCHAIN_VARIABLE
from latebind.config.config import Config
from latebind.config.project import DIGEST_VARIABLE
from latebind.errors import BuildError, ToolError
from latebind.system.archive import source_date_epoch
from latebind.system.lock import HELD_VARIABLE
from latebind.system.run import run
from loadcheck.archive import replacing
from loadcheck.tables.pythonabi import abi_tags

if TYPE_CHECKING:
    from latebind.ecosystems.ecosystem import PackageJob

_TIME_LIMIT = 1800.0
TARGET_VARIABLE = "LATEBIND_TARGET"
KIND_VARIABLE = "LATEBIND_WHEEL_KIND"
"""Which of a package's wheels the hook makes: one of WheelConfig.kinds."""

MetadataFields = TypedDict(
    "MetadataFields",
    {"version": str, "dependencies": list[str], "optional-dependencies": dict[str, list[str]], "urls": dict[str, str]},
)
"""The fields of [project] that come from the configuration and that a wheel must have."""


def metadata_fields(config: Config, package: str, own_requirements: tuple[str, ...] = ()) -> MetadataFields:
    """The dynamic metadata of a package: version, dependencies (`own_requirements` first), optional-dependencies, urls.

    Packages of one project require each other by the same minor version: their binary interface is checked at
    run time, and a patch release of one must not force one of all.
    """
    version = config.project.version
    parsed = Version(version)
    since = parsed.public if parsed.is_prerelease else f"{parsed.major}.{parsed.minor}.0"
    names = [config.wheel_name(other) for other in config.packages[package].requires]
    needs = [*(f"{name}~={since}" for name in names if name), *_required_runtime(config, package)]
    return {
        "version": version,
        "dependencies": [*own_requirements, *needs],
        "optional-dependencies": _extras(config, package),
        "urls": {"Source": config.project.repository} if config.project.repository else {},
    }


def page_fields(config: Config, fields: Collection[str]) -> dict[str, Any]:
    """Those of `fields` that describe the project, for people: description, readme, license, authors.

    Raises BuildError for a README that cannot be read.
    """
    project = config.project
    known = {
        "description": project.description,
        "license": project.license,
        "authors": [{key: value for key, value in author._asdict().items() if value} for author in project.people],
        "readme": _read_readme(config) if "readme" in fields else None,
    }
    return {key: value for key, value in known.items() if value and key in fields}


def _read_readme(config: Config) -> dict[str, str] | None:
    """As [project] has a README that is not a file of its own folder."""
    if not config.project.readme:
        return None
    path = config.root / config.project.readme
    try:
        return {"content-type": "text/markdown", "text": path.read_text("utf-8")}
    except (OSError, UnicodeDecodeError) as error:
        text = f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise BuildError(text, where=str(path), advice=f"Correct project.readme in {config.file.name}.") from error


def _required_runtime(config: Config, package: str) -> list[str]:
    """The distribution of the runtime that a wheel requires, from the one minimum on."""
    wheel, runtime = config.packages[package].wheel, config.runtime_of(package)
    if wheel is None or wheel.runtime != "required" or runtime is None:
        return []
    supply = runtime.traits.python
    return [supply.render_requirement(supply.extra, runtime.minimum)]


def _extras(config: Config, package: str) -> dict[str, list[str]]:
    """One extra for each distribution that supplies the runtime, with the one minimum and a marker for its targets."""
    wheel, runtime = config.packages[package].wheel, config.runtime_of(package)
    if wheel is None or wheel.extras == "none" or runtime is None:
        return {}
    supply = runtime.traits.python
    return {extra: [supply.render_requirement(extra, runtime.minimum)] for extra in supply.extras}


def wheel_libraries(config: Config, package: str, stage: Stage, kind: str) -> tuple[Path, ...]:
    """The libraries of a package's component that belong into its wheel of that kind.

    Raises BuildError when there are none or they lack an export; NotRun where the wheel is another machine's to build.
    """
    component = config.packages[package].component
    refuse_foreign(kind, stage.rid)
    refuse_interpreter(kind)
    modules = tuple(library for library in stage.libraries(component) if fits(kind, library.name))
    if not modules:
        library_names = ", ".join(library.name for library in stage.libraries(component))
        raise BuildError(
            f"component {component} contains no module for {abi_tags(kind)}: {library_names}",
            where=str(stage.root),
            advice="Run latebind pack with the CPython that the module was built for.",
        )
    refuse_unexported(config, package, stage)
    return modules


def build_distribution(  # noqa: PLR0913  # all that a backend is given
    source: Path,
    destination: Path,
    form: Literal["wheel", "sdist"],
    request: Mapping[str, str] = MappingProxyType({}),
    *,
    workdir: Path,
    config_digest: str,
) -> Path:
    """Make the wheel or the sdist of a wheel source in this Python's environment; move it to `destination` at the end.

    `request` are the variables that tell the hook which wheel to make; `config_digest` is that of the configuration,
    which the backend reads, too.

    Raises BuildError with the backend's words, and when it gives the file another name; an earlier file at
    `destination` stays when this fails.
    """
    if not (source / "pyproject.toml").is_file():
        raise BuildError(
            "the wheel source has no pyproject.toml", where=str(source), advice="Set package.<name>.wheel.source."
        )
    refuse_missing_requirements(source)
    environment = {
        **{key: value for key, value in os.environ.items() if key != TOOLCHAIN_VARIABLE},  # latebind.toml has it
        "LATEBIND_WORKDIR": str(workdir.resolve()),
        "SOURCE_DATE_EPOCH": str(source_date_epoch()),
        DIGEST_VARIABLE: config_digest,
        HELD_VARIABLE: str(workdir.resolve()),  # the hook is a child of the process that holds the lock
        **request,
    }
    (workdir / "build").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".pack-", dir=workdir / "build") as aside:
        try:
            _call_backend(source, form, Path(aside), environment)
        except ToolError as error:
            raise BuildError(
                _own_words(error) or f"{source.name} could not be built: {error.message}",
                where=str(source),
            ) from error
        (artifact,) = Path(aside).iterdir()
        if artifact.name != destination.name:
            raise BuildError(
                f"the backend wrote {artifact.name}, but the configuration asks for {destination.name}",
                where=str(source / "pyproject.toml"),
                advice="Let latebind set the version (list it in `dynamic`), and keep strict-naming at its default.",
            )
        return _move_into_place(artifact, destination)


def list_variables(job: PackageJob) -> dict[str, str]:
    """The variables of the environment that tell the hook which wheel to make."""
    return {TARGET_VARIABLE: job.rids[0], KIND_VARIABLE: job.variant}


def _call_backend(source: Path, kind: Literal["wheel", "sdist"], out: Path, environment: Mapping[str, str]) -> None:
    """What `python -m build --no-isolation` does, without starting another Python for each package.

    Raises ToolError.
    """
    from build import BuildBackendException, BuildException, ProjectBuilder  # noqa: PLC0415  # hooks have none

    def call(cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None) -> None:
        where = Path(cwd) if cwd else None
        run(cmd, cwd=where, env={**environment, **(extra_environ or {})}, timeout=_TIME_LIMIT)

    try:
        ProjectBuilder(source, runner=call).build(kind, out)
    except (BuildException, BuildBackendException) as error:
        cause = getattr(error, "exception", None)
        why = getattr(cause, "traceback", None) or ""  # of a backend that cannot be imported
        raise (cause if isinstance(cause, ToolError) else ToolError(f"{error}\n{why}".rstrip())) from error


def _own_words(error: ToolError) -> str:
    """The message of latebind's own hook, without the frontend's traceback around it; "" when it was not the hook."""
    _, separator, text = error.message.rpartition("latebind.errors.")
    lines = [line.strip() for line in text.partition(": ")[2].splitlines()]
    relevant = itertools.takewhile(lambda line: line and not line.startswith(("ERROR ", "error: ", "hint: ")), lines)
    return "\n  ".join(relevant) if separator else ""


def _move_into_place(path: Path, destination: Path) -> Path:
    """Move a finished file to its place in one step, also to another file system."""
    with replacing(destination) as aside:
        shutil.move(path, aside)
    return destination
