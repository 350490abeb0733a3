"""A configuration that was read: its tables, where it is, and what follows from both.

Nothing here touches the network, runs a program, or executes anything of the project.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from latebind.backend.targets import host_rid, target
from latebind.config.native import TargetOptions
from latebind.config.package import SdkConfig
from latebind.config.verification import VerifyOwn
from latebind.errors import LatebindError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from latebind.backend.targets import Rid, Target
    from latebind.config.document import Document, ProjectTable
    from latebind.config.native import TomlValue
    from latebind.config.package import Package
    from latebind.config.plugin import EpConfig
    from latebind.config.runtime import RuntimeUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A configuration that was read and checked. `root` is the folder of `file`; all paths are relative to it."""

    root: Path
    file: Path
    document: Document
    content: bytes = b""
    """`file` as it was read. It may be edited later, so nothing reads it again."""

    @property
    def digest(self) -> str:
        """The SHA-256 of what was read."""
        return hashlib.sha256(self.content).hexdigest()

    def problem_at(
        self, key: str, message: str, advice: str = "", kind: type[LatebindError] = LatebindError
    ) -> LatebindError:
        """The error of a key such as `verify.python`."""
        return kind(message, where=f"{self.file.name}: {key}", advice=advice)

    @property
    def project(self) -> ProjectTable:
        """The [project] table."""
        return self.document.project

    @property
    def packages(self) -> dict[str, Package]:
        """The packages by name, in the order of the file."""
        return self.document.package

    @property
    def module_kind(self) -> str:
        """The kind of the Python modules that the native code makes: `cp310-abi3`, `cpython`; "" for none.

        One native build makes modules of one kind, which is checked when the file is read.
        """
        kinds = map(self.wheel_kind, self.packages)
        return next((kind for kind in kinds if kind not in ("", "py3-none")), "")

    @property
    def module_kinds(self) -> tuple[str, ...]:
        """The kinds of the modules, one for each CPython that `wheel.pythons` names: `cp310-cp310`, `cp313-cp313t`."""
        kind, wheels = self.module_kind, (package.wheel for package in self.packages.values())
        return next((wheel.kinds for wheel in wheels if wheel is not None and wheel.kind == kind), ())

    @property
    def native_source(self) -> Path:
        """The folder of all native code."""
        return self.root / self.document.native.source

    @property
    def is_built_elsewhere(self) -> bool:
        """Whether another build makes the native files."""
        return self.document.native.build == "external"

    @property
    def cmake_source(self) -> Path:
        """The folder of the top CMakeLists.txt."""
        return self.native_source / self.document.native.cmake

    def choose_targets(self, names: Sequence[str] | None) -> list[Rid]:
        """The targets of some names, of which `all` means the project's; by default this machine's.

        Raises LatebindError for an unknown target, and when the project has no target for this machine.
        """
        included = self.document.targets.include
        if not names:
            host = host_rid()
            if host not in included:
                text = f"this machine is {host}, which is not a target of the project"
                raise self.problem_at("targets.include", text, f"Name one: --target {included[0]}")
            return [host]
        return list(dict.fromkeys(target(name).rid for name in (included if "all" in names else names)))

    def toolchain(self, rid: str) -> str:
        """The toolchain that builds a target."""
        return self.document.targets.options.get(rid, TargetOptions()).toolchain

    def definitions(self, rid: str) -> dict[str, TomlValue]:
        """The CMake cache variables of a target: native.define, and in front of it the target's own."""
        options = self.document.targets.options.get(rid, TargetOptions())
        definitions: dict[str, TomlValue] = {**self.document.native.define, **options.define}
        for name, flags in (("CMAKE_C_FLAGS", options.cflags), ("CMAKE_CXX_FLAGS", options.cxxflags)):
            if flags:
                definitions[name] = " ".join(filter(None, [str(definitions.get(name, "")), *flags]))
        return definitions

    def excluded(self, rid: str) -> tuple[str, ...]:
        """The packages that the project does not make for a target."""
        return self.document.targets.options.get(rid, TargetOptions()).exclude

    def explain_not_made(self, package: str, rid: str) -> str:
        """Why a package is not made for a target; "" if it is.

        Either the project excludes it, or its runtime does not exist for the target's C library. The package would
        then install and never work.
        """
        if package in self.excluded(rid):
            return f"[targets.{rid}] of {self.file.name} excludes {package}"
        runtime = self.runtime_of(package)
        return runtime.explain_absent(rid) if runtime else ""

    def with_toolchain(self, rid: str, name: str) -> Config:
        """The configuration with another toolchain for a target."""
        targets = self.document.targets
        options = msgspec.structs.replace(targets.options.get(rid, TargetOptions()), toolchain=name)
        targets = msgspec.structs.replace(targets, options={**targets.options, rid: options})
        return replace(self, document=msgspec.structs.replace(self.document, targets=targets))

    def floor(self, target: Target) -> str:
        """The oldest libc or macOS that a target is built for: the configured one, or the target's oldest if newer."""
        configured = getattr(self.document.targets, target.floor_key) if target.floor_key else ""
        return max(configured, target.floor, key=_numeric)

    def runtime_of(self, package: str) -> RuntimeUse | None:
        """The runtime that a package binds late, or None."""
        name = self.packages[package].runtime or package
        return next((runtime for runtime in self.document.runtime if runtime.name == name), None)

    def package_of(self, runtime: RuntimeUse | None, rid: str = "") -> str:
        """The package that binds a runtime, on a target one that is made for it; the first package where none does."""
        binding = [name for name in self.packages if self.runtime_of(name) == runtime]
        made = [name for name in binding if name not in self.excluded(rid)]
        return next(iter((*made, *binding, *self.packages)))

    def provider(self, runtime: RuntimeUse | None) -> EpConfig | None:
        """The execution provider that a package of the project adds to the runtime, or None."""
        return self.packages[self.package_of(runtime)].ep if runtime is not None else None

    def list_needed_packages(self, package: str) -> tuple[str, ...]:
        """A package, and those of the project that it requires, directly or not."""
        names = [package]
        for name in names:
            names += [other for other in self.packages[name].requires if other not in names]
        return tuple(names)

    @property
    def sdk_packages(self) -> tuple[str, ...]:
        """The packages in an SDK archive: those with `sdk = true`, and what they require, in the order of the file."""
        names = {
            other for name, package in self.packages.items() if package.sdk for other in self.list_needed_packages(name)
        }
        return tuple(name for name in self.packages if name in names)

    @property
    def named_files(self) -> dict[str, str]:
        """The files that it names one by one for packages, by key."""
        files = {f"project.{key}": getattr(self.project, key) for key in ("readme", "icon", "license_file")}
        tables = {name: package.nuget for name, package in self.packages.items() if package.nuget is not None}
        files |= {f"package.{name}.nuget.icon": nuget.icon for name, nuget in tables.items()}
        return {key: name for key, name in files.items() if name}

    def list_folders(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """The folders that the tables of ecosystems name, each with its key and the globs of what it must hold."""
        for name, package in self.packages.items():
            for table, settings in package.tables.items():
                for key, (folder, globs) in settings.folders.items():
                    if folder:
                        yield f"package.{name}.{table}.{key}", folder, globs

    def list_sources(self) -> dict[str, str]:
        """The files and folders that packages are made from, besides the native code, by key."""
        native, packages, wheels = self.document.native, self.packages.items(), self.wheel_sources.items()
        managed = {name: package.nuget.managed for name, package in packages if package.nuget is not None}
        return {
            **self.named_files,
            **{f"native.sources.{name}": f"{native.source}/{path}" for name, path in native.sources.items()},
            **{f"package.{name}.wheel.source": f"{source}/pyproject.toml" for name, source in wheels},
            **{f"package.{name}.nuget.managed": folder for name, folder in managed.items() if folder},
            **{key: folder for key, folder, _ in self.list_folders()},
        }

    @property
    def soversion(self) -> int | None:
        """The version in the SONAMEs of an SDK archive; None where libraries keep the names that CMake gives them."""
        versions = (package.sdk.soversion for package in self.packages.values() if isinstance(package.sdk, SdkConfig))
        return next(versions, None)

    def verification_of(self, runtime: RuntimeUse | None) -> VerifyOwn:
        """How a runtime is verified: its own settings, else those for all runtimes."""
        verify = self.document.verify
        settings = verify.own.get(runtime.name, VerifyOwn()) if runtime is not None else VerifyOwn()
        # Counts belong to the versions of one runtime, so the general ones apply to the first.
        counts = verify.at_least if runtime in (None, *self.document.runtime[:1]) else {}
        return msgspec.structs.replace(
            settings, data=settings.data or verify.data, at_least=settings.at_least or counts
        )

    @property
    def wheel_sources(self) -> dict[str, str]:
        """The folders that wheels are built from, by package; the wheel of a plugin has none."""
        return {
            name: package.wheel.source
            for name, package in self.packages.items()
            if package.wheel and package.wheel.source
        }

    @property
    def sdist_sources(self) -> dict[str, str]:
        """The folders that sdists are made from, by package; none where your own build makes the files."""
        return {} if self.document.native.build == "external" else self.wheel_sources

    def wheel_kind(self, package: str) -> str:
        """The kind of a package's wheel: which Pythons it serves; "" where it has none."""
        wheel = self.packages[package].wheel
        return wheel.kind if wheel is not None else ""

    def for_this_python(self) -> Config:
        """The configuration for the running CPython alone, as a user who installs the project needs it."""
        packages = {
            name: msgspec.structs.replace(package, wheel=msgspec.structs.replace(package.wheel, pythons=()))
            if package.wheel is not None
            else package
            for name, package in self.packages.items()
        }
        return replace(self, document=msgspec.structs.replace(self.document, package=packages))

    def wheel_name(self, package: str) -> str:
        """The distribution name of a package's wheel, as a user types it: `latenn-onnxruntime`; "" for none."""
        wheel = self.packages[package].wheel
        if wheel is None:
            return ""
        return wheel.name or (self.root / wheel.source).resolve().name.replace("_", "-")

    def module_name(self, package: str) -> str:
        """The name with which Python imports the package of a wheel: `cv2`, `acme.vision`; "" for none."""
        wheel = self.packages[package].wheel
        named = wheel.module_name if wheel is not None else ""
        return named or import_name(self.wheel_name(package))


def import_name(distribution: str) -> str:
    """The name with which Python imports a distribution, unless the project chooses another."""
    return re.sub(r"[-_.]+", "_", distribution).lower()


def _numeric(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")) if version else ()
