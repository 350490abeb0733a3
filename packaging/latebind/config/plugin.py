"""The `plugin` table of a package, and what it has in common with the table `ep`: a library that a host loads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from latebind.config.reader import Table, nearest
from latebind.tables.hosts import Host, hosts

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        """As it is configured."""
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
