"""The tables `ep` and `plugin` of a package: a library that a host loads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from latebind.config.reader import Table, nearest
from latebind.tables.hosts import Host, hosts

if TYPE_CHECKING:
    from collections.abc import Iterator

EP_RUNTIME = "onnxruntime"
EP_FLOOR = "1.23"
"""The first release with which a Python program can register one; in C, 1.22 can, where the interface was not final."""
_RELEASE = re.compile(r"^1\.(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))?$")
_NAME = re.compile(r"^[A-Za-z][A-Za-z0-9_-]*$|^$")


class HostedConfig(Table, frozen=True, kw_only=True):
    """A library that a program loads by its path, and the files next to it."""

    companions: Annotated[
        tuple[str, ...],
        Meta(description="Globs of files to pack next to the library, such as libacme_*.so."),
    ] = ()

    @property
    def host_name(self) -> str:
        """The name of the program that loads the library, in hosts.toml."""
        raise NotImplementedError

    @property
    def plugin_names(self) -> tuple[str, ...]:
        """The names by which that program knows the plugin, the first of which decides what it looks up."""
        raise NotImplementedError

    @property
    def known_host(self) -> Host:
        """The program that loads the library."""
        return hosts()[self.host_name]

    @property
    def exports(self) -> tuple[str, ...]:
        """What that program looks up in the library."""
        return self.known_host.list_exports(self.plugin_names[0])

    def problems(self) -> Iterator[tuple[str, str, str]]:
        """The key, the problem and advice for each value that types cannot refuse."""
        yield from ()


class EpConfig(HostedConfig, frozen=True, kw_only=True):
    """A plugin execution provider for ONNX Runtime. latebind packs a wheel, and a NuGet package if it has an id."""

    id: Annotated[
        str,
        Meta(
            description="Short name, such as tiny-npu: lowercase letters and digits, with single - between them. The "
            "wheel is onnxruntime-ep-<id>, its module onnxruntime_ep_<id>.",
            pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$",
        ),
    ]
    names: Annotated[
        tuple[str, ...],
        Meta(
            description="Execution providers that the library registers, in order of preference.",
            min_length=1,
        ),
    ]
    minimum: Annotated[str, Meta(description="Oldest ONNX Runtime that works.")] = EP_FLOOR
    excepted: Annotated[
        tuple[str, ...],
        Meta(description="Newer releases that do not work: 1.24.1 is one release, 1.24 the whole minor version."),
    ] = ()
    vendor: Annotated[
        str,
        Meta(
            description="First part of the NuGet package's id <vendor>.ML.OnnxRuntime.EP.<Id>, such as Acme. It has "
            "letters and digits, and begins with a letter. Without `vendor` and `nuget`, there is no "
            "NuGet package.",
            pattern=r"^[A-Za-z][A-Za-z0-9]*$|^$",
        ),
    ] = ""

    @property
    def distribution(self) -> str:
        """The name of the wheel."""
        return f"onnxruntime-ep-{self.id}"

    @property
    def host_name(self) -> str:
        """ONNX Runtime's."""
        return EP_RUNTIME

    @property
    def plugin_names(self) -> tuple[str, ...]:
        """The names of the execution providers."""
        return self.names

    @property
    def nuget_id(self) -> str:
        """`Acme.ML.OnnxRuntime.EP.Tiny`; "" for none."""
        name = "".join(part[:1].upper() + part[1:] for part in self.id.split("-"))
        return f"{self.vendor}.ML.OnnxRuntime.EP.{name}" if self.vendor else ""

    @property
    def supported(self) -> str:
        """The supported versions in words: `1.23 or newer, but not 1.24.1`."""
        return f"{self.minimum} or newer" + (f", but not {', '.join(self.excepted)}" if self.excepted else "")

    def excepts(self, version: str) -> bool:
        """Whether a release is one of the excepted ones, or of an excepted minor version."""
        return any(version == release or version.startswith(f"{release}.") for release in self.excepted)

    def definitions(self, version: str) -> list[str]:
        """What `latebind_ep()` in CMake defines for <latebind/ep.h>; `version` is the provider's own, as in SemVer."""
        minor, _, patch = self.minimum.removeprefix("1.").partition(".")
        refused = [*(f"1.{minor}.{older}" for older in range(int(patch or 0))), *self.excepted]
        return [
            f"MINIMUM={minor}",
            f'EXCEPT="{",".join(refused)}"',
            f'NAME="{self.names[0]}"',
            f'VERSION="{version}"',
            f'RANGE="{self.supported}"',
        ]

    def problems(self) -> Iterator[tuple[str, str, str]]:
        """The key, the problem and advice for each value that types cannot refuse."""
        for key, versions in (("minimum", (self.minimum,)), ("excepted", self.excepted)):
            for version in versions:
                if not _RELEASE.match(version):
                    yield key, f"{version!r} is not a release of ONNX Runtime", "Write it as 1.23 or 1.23.2."
        if _RELEASE.match(self.minimum) and int(self.minimum.split(".")[1]) < int(EP_FLOOR.split(".")[1]):
            text = f"ONNX Runtime {self.minimum} cannot register an execution provider from Python"
            yield "minimum", text, f'Write minimum = "{EP_FLOOR}".'
        for name in self.names:
            if not re.match(r"^[A-Za-z][A-Za-z0-9_]*$", name):
                advice = 'Write one as "AcmeExecutionProvider".'
                yield "names", f"{name!r} is not the name of an execution provider", advice


class PluginConfig(HostedConfig, frozen=True, kw_only=True):
    """A plugin. The tables `wheel`, `npm` and `nuget` say which packages latebind makes of it."""

    host: Annotated[
        str,
        Meta(description="Program that loads the library: SQLite, ADBC, or JAX with PJRT."),
    ]
    name: Annotated[
        str,
        Meta(
            description="Name by which the host knows the plugin, such as vec0. By default, the package's. It begins "
            "with a letter, and has letters, digits, _ and -. SQLite derives the function to call from "
            "the file's name.",
            pattern=_NAME.pattern,
        ),
    ] = ""

    @property
    def host_name(self) -> str:
        """The host that the configuration names."""
        return self.host

    @property
    def plugin_names(self) -> tuple[str, ...]:
        """The configured name."""
        return (self.name,)

    def problems(self) -> Iterator[tuple[str, str, str]]:
        """The key, the problem and advice for each value that types cannot refuse."""
        if self.host not in PLUGIN_HOSTS:
            yield "host", f"{self.host!r} is not a host that latebind knows", nearest(self.host, PLUGIN_HOSTS)
        if not _NAME.match(self.name):  # the package's
            yield "name", f"{self.name!r} cannot be the name of a plugin", "Set name, such as vec0."


PLUGIN_HOSTS = tuple(name for name, host in hosts().items() if host.table == "plugin")
"""The values of the key `host`; ONNX Runtime has a table of its own."""
