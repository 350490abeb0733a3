"""The .NET consumers: how an application that uses the packages is made and started, one row each; runs nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from latebind.nuget.mono import FRAMEWORK
from latebind.verify.plan import proofs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from latebind.verify.plan.proofs import Proof

Start = Literal["assembly", "program", "mono", "nothing"]
"""What is run: the assembly by `dotnet`, the program that the SDK made beside it, the program by `mono`, or nothing:
its files are judged."""

_FRAMEWORK_DEPENDENT = ("--self-contained", "false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A consumer of nupkgs. `{rid}` in `command` and `properties` stands for the target.

    In `properties`, `{references}` stands for Mono's reference assemblies.
    """

    name: str
    title: str
    command: tuple[str, ...] = ("build",)
    """What `dotnet` is told, without the output folder and the properties."""
    properties: Mapping[str, str] = field(default_factory=dict)
    start: Start = "assembly"
    application: str = ""
    """A folder of templates/dotnet: an application that refers to the consumer, which becomes a class library."""
    targets: str = ""
    """A file of templates/dotnet that the consumer's build takes in: its Directory.Build.targets."""
    proofs: tuple[Proof, ...] = (proofs.from_the_packages,)
    """What must hold of what was made and loaded, beside what the consumer computes."""
    needs_sdk: int = 0
    """The oldest major version of an SDK that can make it."""
    fetches: bool = False
    """Whether the SDK fetches parts of .NET from the feeds that the machine has configured."""


LAYOUTS: tuple[Layout, ...] = (
    Layout(name="dotnet-build", title="built, no RID given"),
    Layout(name="dotnet-rid", title="built for the RID",
           command=("build", "-r", "{rid}"), properties={"SelfContained": "false"}),
    Layout(name="dotnet-publish", title="published for the RID, framework-dependent",
           command=("publish", "-r", "{rid}", *_FRAMEWORK_DEPENDENT)),
    Layout(name="dotnet-single-file", title="published as a single file; the program itself is started",
           command=("publish", "-r", "{rid}", *_FRAMEWORK_DEPENDENT), properties={"PublishSingleFile": "true"},
           start="program", proofs=(proofs.from_the_packages, proofs.one_program)),
    Layout(name="dotnet-transitive", title="refers to a class library only, which refers to the packages",
           application="transitive"),
    Layout(name="dotnet-cache", title="nothing is copied: each library comes out of its own package",
           properties={"CopyLocalLockFileAssemblies": "false", "GenerateRuntimeConfigDevFile": "true"},
           proofs=(proofs.from_the_packages, proofs.apart)),
    Layout(name="dotnet-netstandard2.0", title="built with the netstandard2.0 assembly of the package",
           targets="netstandard2.0.targets", proofs=(proofs.from_the_packages, proofs.older_assembly)),
    Layout(name="dotnet-files", title="published for the RID; the files are checked, nothing runs",
           command=("publish", "-r", "{rid}", *_FRAMEWORK_DEPENDENT),
           # The program that starts an application is another package for each RID, and not what is looked at.
           properties={"UseAppHost": "false"}, start="nothing",
           proofs=(proofs.from_the_packages, proofs.files_of_the_rid)),
    Layout(name="mono", title="a .NET Framework 4.7.2 application, run by Mono", targets="mono.targets", start="mono",
           properties={"ConsumerFramework": FRAMEWORK, "ConsumerRid": "{rid}", "FrameworkPathOverride": "{references}"},
           proofs=(proofs.from_the_packages, proofs.older_assembly, proofs.beside)),
    Layout(name="dotnet-net8.0", title="built for net8.0", properties={"ConsumerFramework": "net8.0"},
           needs_sdk=8, fetches=True),
    Layout(name="dotnet-self-contained", title="published with .NET itself; the program itself is started",
           command=("publish", "-r", "{rid}", "--self-contained", "true"), start="program", needs_sdk=8, fetches=True),
    Layout(name="dotnet-trimmed", title="published with .NET itself, less what is not used",
           command=("publish", "-r", "{rid}", "--self-contained", "true"), properties={"PublishTrimmed": "true"},
           start="program", needs_sdk=8, fetches=True),
)  # fmt: skip

BUILD = LAYOUTS[0]
RUNNING = tuple(row.name for row in LAYOUTS if row.start != "nothing")
"""The consumers that compute something."""


def layout(name: str) -> Layout:
    """The consumer of that name."""
    return next(row for row in LAYOUTS if row.name == name)
