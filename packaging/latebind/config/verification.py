"""The table `verify`: how the packages are tested, and with which runtimes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta
from packaging.version import Version

from latebind.config.extension import add_program_keys
from latebind.config.reader import Table
from latebind.model import Level  # noqa: TC001  # tools read the types of the tables

ANY_VERSION = "default"
"""The key of requirements that hold for every version of the runtime."""


class VerifyData(Table, frozen=True):
    """A script that prepares the data for the consumers. It runs in an environment of its own."""

    script: Annotated[str, Meta(description="The script. Its argument is the folder to write to.")]
    requires: Annotated[
        dict[str, tuple[str, ...]],
        Meta(
            description="Requirements of the script. Each key is the runtime version from which its list applies, "
            'with quotes: { "1.19" = [...] }. To use one list for every version, write only the key `default`.'
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
        Meta(description="How many cases must pass. Each key is the runtime version from which its number applies."),
    ] = msgspec.field(default_factory=dict)
    native_only: Annotated[
        bool,
        Meta(
            description="Whether to skip the runtime on emulated machines, and with CPythons other than the one that "
            "runs latebind, because tests would be too slow there."
        ),
    ] = False

    def count_required(self, version: str) -> int:
        """How many cases must pass: what the newest key of `at_least` up to a version sets, else 1."""
        reached = [key for key in self.at_least if version and Version(key) <= Version(version)]
        return self.at_least[max(reached, key=Version)] if reached else 1


class Verify(Table, frozen=True):
    """How latebind verifies that the packages work."""

    python: Annotated[str, Meta(description="Script that runs in each clean Python environment.")] = ""
    python_requires: Annotated[
        tuple[str, ...], Meta(description="Requirements of the scripts, in addition to the packages and the runtime.")
    ] = ()
    reference: Annotated[
        str,
        Meta(
            description="Script that computes the same cases without the packages. latebind calls it with "
            "--reference. Cases that it cannot compute do not count against the packages."
        ),
    ] = ""
    at_least: Annotated[
        dict[str, Annotated[int, Meta(ge=0)]],
        Meta(
            description="How many cases must pass. Each key is the runtime version from which its number applies, "
            'with quotes: { "1.19" = 1000 }.'
        ),
    ] = msgspec.field(default_factory=dict)
    data: Annotated[VerifyData | None, Meta(description="Script that prepares inputs and expected outputs.")] = None
    wheel: Annotated[
        str,
        Meta(
            description="Script that tests an installed wheel on the machine that built it. cibuildwheel uses it "
            "as the test command."
        ),
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
        Meta(
            description="Settings that differ for one runtime. With several runtimes, the scripts get --runtime NAME."
        ),
    ] = msgspec.field(default_factory=dict)
    each_minor: Annotated[
        tuple[str, ...],
        Meta(description="Targets on which --all tests `each-minor`. The default is the first target."),
    ] = ()
    pythons: Annotated[
        tuple[str, ...],
        Meta(
            description="Further CPython versions to test wheels with, such as 3.11; only with --all, and for this "
            "machine's target. By default, no further ones."
        ),
    ] = ()
    required: Annotated[
        tuple[str, ...],
        Meta(
            description="Globs that match the ids of the test cases that must pass before a release, such as "
            "*/linux-x64/*/works. The default is `works` for every target that has the runtime, and every "
            "negative scenario that is planned. `consumed` replaces `works` if all consumers are C or C++ programs."
        ),
    ] = ()
    level: Annotated[
        Level,
        Meta(
            description="What the gate accepts as passed: real (on the system itself), emulated (also on an emulator) "
            "or glue (also without the real runtime)."
        ),
    ] = "emulated"

    def find_program(self, key: str) -> str:
        """The folder of the program that an ecosystem's key names; "" for none."""
        folder: str = getattr(self, key)
        return folder


if not TYPE_CHECKING:  # what ecosystems add is known when their tables are read
    Verify = add_program_keys(Verify)
