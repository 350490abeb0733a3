"""The `npm` table of a package: how it becomes npm packages, one for each target and the main one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from latebind.config.ecosystems import EcosystemTable, PackageKey, ProgramKey, find_tables

if TYPE_CHECKING:
    from latebind.config.package import Package

MAX_NPM_NAME = 214
NPM_NAME = re.compile(r"(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*")
"""What npm accepts as the name of a new package (validate-npm-package-name), except leading punctuation."""
REQUIRED = ("index.cjs", "index.js")
"""A project's own entry points for require(), best first."""
IMPORTED = "index.mjs"
_VERSION = r"(?:[~^=]|[<>]=?)?\s*v?(?:\d+|[xX*])(?:\.(?:\d+|[xX*])){0,2}(?:[-+][\w.+-]+)?"
_RANGE = re.compile(
    rf"{_VERSION}(?:(?:\s*\|\|\s*|\s+-\s+|\s+){_VERSION})*|[a-z][\w.-]*|(?:npm:|https://|git\+|github:)\S+"
)
"""The ranges of node-semver, dist-tags, and the addresses that an installation from a registry can follow; `file:`,
`link:` and `workspace:` lead to a folder of this machine."""
_LONGEST_TARGET = len("-linux-arm64-musl")
_OWN_MODULES = """
assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs
http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib
"""
_RESERVED = frozenset({"node_modules", "favicon.ico", *_OWN_MODULES.split()})
"""What npm refuses, too: require() would give Node's own module."""


class NpmConfig(EcosystemTable, frozen=True, kw_only=True):
    """How latebind makes npm packages from the package."""

    name: Annotated[
        str,
        Meta(
            description="Name of the main package, such as tiny or @acme/tiny. Name and scope have lowercase letters, "
            "digits, and any of . _ - after the first character. Those for single targets are "
            "<name>-linux-x64 and so on.",
            pattern=f"^{NPM_NAME.pattern}$",
        ),
    ]
    source: Annotated[
        str,
        Meta(
            description="Folder of the main package's own files: index.cjs (or index.js), index.mjs, index.d.ts, "
            "index.d.mts. By default, the generated module is the entry point."
        ),
    ] = ""
    dependencies: Annotated[
        dict[str, str], Meta(description='Other npm packages that the main package requires: { koffi = "^3" }.')
    ] = msgspec.field(default_factory=dict)
    runtime: Annotated[
        str,
        Meta(
            description="npm package of the runtime to depend on, such as onnxruntime-node. By default, the runtime "
            "is an optional peer dependency."
        ),
    ] = ""
    keywords: Annotated[tuple[str, ...], Meta(description="Search terms. By default, NuGet's tags.")] = ()

    @property
    def folders(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The folder of the main package's own files, which users reach only through an entry point."""
        return {"source": (self.source, (*REQUIRED, IMPORTED))}

    def problems(self) -> Iterator[tuple[str, str, str]]:
        """The key, the problem and advice for each value that types cannot refuse."""
        if len(self.name) + _LONGEST_TARGET > MAX_NPM_NAME or self.name in _RESERVED:
            text = f"npm does not accept {self.name!r} as the name of a package"
            yield "name", text, f"Choose another name, of at most {MAX_NPM_NAME - _LONGEST_TARGET} characters."
        for name, range_ in self.dependencies.items():
            if not NPM_NAME.fullmatch(name) or not _RANGE.fullmatch(range_.strip()):
                yield (
                    "dependencies",
                    f'{name} = "{range_}" is not the name of an npm package and a version range',
                    'Write koffi = "^3".',
                )
            elif name == self.name:
                yield "dependencies", f"{name} is the package itself", "Remove it."
        if self.runtime and (not NPM_NAME.fullmatch(self.runtime) or self.runtime in self.dependencies):
            what = (
                "is also in dependencies" if self.runtime in self.dependencies else "is not the name of an npm package"
            )
            yield (
                "runtime",
                f"{self.runtime!r} {what}",
                "Write onnxruntime-node, and its range nowhere: latebind adds it.",
            )


def npm_tables(packages: Mapping[str, Package]) -> dict[str, NpmConfig]:
    """The packages that become npm packages, by name, with their tables."""
    return find_tables(packages, NpmConfig)


PACKAGE_KEYS = (
    PackageKey(
        name="npm",
        title="npm",
        table=NpmConfig,
        description="Settings of the npm packages.",
    ),
)
PROGRAM_KEYS = (ProgramKey(name="node", description="Folder of a Node.js program that uses the npm packages."),)
