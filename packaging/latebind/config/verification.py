"""The table `verify`: how the packages are tested, and with which runtimes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta
from packaging.version import Version

from latebind.config.ecosystems import add_program_keys, program_keys
from latebind.config.reader import Table
from latebind.model import Level  # tools read the types of the tables

ANY_VERSION = "default"
"""The key of requirements that hold for every version of the runtime."""


class VerifyData(Table, frozen=True):
    """A script that prepares the data for the consumers. It runs in an environment of its own."""

    script: Annotated[str, Meta(description="The script. Its argument is the folder to write to.")]
    requires: Annotated[
        dict[str, tuple[str, ...]],
        Meta(
            description='Requirements of the script, by the runtime version from which a list applies: { "1.19" = '
            "[...] }, or { default = [...] }."
        ),
    ] = msgspec.field(default_factory=dict)


class VerifyOwn(Table, frozen=True):
    """Settings for one runtime, in place of the general ones."""

    scenarios: Annotated[tuple[str, ...], Meta(description="Scenarios to run. By default, all scenarios run.")] = ()
    data: Annotated[
        VerifyData | None, Meta(description="Script that prepares inputs and expected outputs for this runtime.")
    ] = None
    at_least: Annotated[
        dict[str, Annotated[int, Meta(ge=0)]],
        Meta(description="How many cases must pass, by runtime version."),
    ] = msgspec.field(default_factory=dict)
    native_only: Annotated[
        bool,
        Meta(description="Whether to skip the runtime on emulated machines and with further CPythons."),
    ] = False

    def count_required(self, version: str) -> int:
        """How many cases must pass: what the newest key of `at_least` up to a version sets, else 1."""
        reached = [key for key in self.at_least if version and Version(key) <= Version(version)]
        return self.at_least[max(reached, key=Version)] if reached else 1


class Verify(Table, frozen=True):
    """How latebind verifies that the packages work."""

    python: Annotated[str, Meta(description="Script that runs in each clean Python environment.")] = ""
    python_requires: Annotated[
        tuple[str, ...], Meta(description="Requirements of the scripts, besides the packages and the runtime.")
    ] = ()
    reference: Annotated[
        str,
        Meta(
            description="Script that computes the cases without the packages (--reference). Those that it cannot "
            "compute do not count."
        ),
    ] = ""
    at_least: Annotated[
        dict[str, Annotated[int, Meta(ge=0)]],
        Meta(
            description='How many cases must pass, by the runtime version from which a number applies: { "1.19" = '
            "1000 }."
        ),
    ] = msgspec.field(default_factory=dict)
    data: Annotated[VerifyData | None, Meta(description="Script that prepares inputs and expected outputs.")] = None
    wheel: Annotated[
        str,
        Meta(description="Script that tests an installed wheel where it was built, for cibuildwheel."),
    ] = ""
    dotnet: Annotated[str, Meta(description="Folder of a console project that uses the NuGet packages.")] = ""
    c: Annotated[str, Meta(description="Folder of a CMake project in C that uses the NuGet packages.")] = ""
    sdk: Annotated[str, Meta(description="Folder of a CMake project in C or C++ that uses the SDK archive.")] = ""
    runtimes: Annotated[
        dict[str, tuple[str, ...]],
        Meta(description="Versions of each runtime to test: minimum, each-minor, latest, or a version."),
    ] = msgspec.field(default_factory=dict)
    own: Annotated[
        dict[str, VerifyOwn],
        Meta(description="Settings for one runtime. With several runtimes, the scripts get --runtime NAME."),
    ] = msgspec.field(default_factory=dict)
    each_minor: Annotated[
        tuple[str, ...],
        Meta(description="Targets on which --all tests `each-minor`. By default, the first."),
    ] = ()
    pythons: Annotated[
        tuple[str, ...],
        Meta(description="Further CPythons to test wheels with, such as 3.11; with --all, for this machine's target."),
    ] = ()
    required: Annotated[
        tuple[str, ...],
        Meta(
            description="Globs of the ids of test cases that must pass before a release, such as */linux-x64/*/works. "
            "By default, `works` for every target that has the runtime, and every negative scenario."
        ),
    ] = ()
    level: Annotated[
        Level,
        Meta(
            description="What the gate accepts: real (on the system itself), emulated, or glue (without the real "
            "runtime)."
        ),
    ] = "emulated"

    def list_scripts(self) -> dict[str, str]:
        """The scripts, and the folders of programs, by key."""
        keys = ("python", "reference", "dotnet", "c", "sdk", *(key.name for key in program_keys()))
        data = {"data": self.data, **{f"own.{name}.data": settings.data for name, settings in self.own.items()}}
        scripts = {f"{key}.script": settings.script for key, settings in data.items() if settings is not None}
        named = {**{key: self.find_program(key) for key in keys}, **scripts}
        return {f"verify.{key}": name for key, name in named.items() if name}

    def find_program(self, key: str) -> str:
        """The script, or the folder of the program, that a key names; "" for none."""
        folder: str = getattr(self, key)
        return folder


if not TYPE_CHECKING:  # what ecosystems add is known when their tables are read
    Verify = add_program_keys(Verify)
