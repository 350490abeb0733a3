"""Publishes wheels and sdists: on PyPI from a workflow, and on a local PyPI, from where it installs wheels by name."""

from __future__ import annotations

import os
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import msgspec
from packaging.utils import canonicalize_name

from latebind.config.plugin import EpConfig
from latebind.ecosystems.publishing import AGAIN, Publisher, Registry, Rehearsal, RehearsalInputs, run_script
from latebind.errors import NotRun, ToolError
from latebind.system.run import run
from latebind.system.serve import find_free_port, serve
from latebind.verify.run.installers import consumer_environment, installer_environment, python_of

_TOOLS = ("pypiserver>=2.3", "twine>=6")
_TIME_LIMIT = 600.0
_LINK = re.compile(r'href="(?P<path>[^"#]+)#sha256=(?P<sha256>[0-9a-f]{64})"')


@dataclass(frozen=True, slots=True)
class LocalPyPI:
    """pypiserver, to which twine uploads; twine tries again when the server fails."""

    place: str
    python: Path
    home: Path
    log: Path

    def find(self, file: Path) -> str:
        """The SHA-256 of the published file of that name; "" when there is none."""
        name = canonicalize_name(file.name.partition("-")[0])
        try:
            with urllib.request.urlopen(f"{self.place}/simple/{name}/") as answer:  # noqa: S310  # of this machine
                page = unescape(answer.read().decode())
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.NOT_FOUND:
                return ""
            raise ToolError(f"the registry answers {error.code} {error.reason}", advice=AGAIN) from error
        except OSError as error:
            raise ToolError(f"the registry does not answer: {error}", advice=AGAIN) from error
        hashes = {unquote(match["path"]).rpartition("/")[2]: match["sha256"] for match in _LINK.finditer(page)}
        return hashes.get(file.name, "")

    def upload(self, file: Path) -> None:
        """Publish a file."""
        argv: list[str | Path] = [self.python, "-m", "twine", "upload", "--non-interactive", "--disable-progress-bar"]
        argv += ["--repository-url", self.place, "--username", "local", "--password", "local", file]
        environment = {**installer_environment(self.home), "NO_COLOR": "1", "COLUMNS": "200"}
        run(argv, env=environment, timeout=_TIME_LIMIT, log=self.log, advice=AGAIN)


@contextmanager
def open_pypi(inputs: RehearsalInputs) -> Iterator[LocalPyPI]:
    """A PyPI of this machine. Raises NotRun when pypiserver cannot be installed."""
    tools, files, port = inputs.folder / "tools", inputs.folder / "files", find_free_port()
    files.mkdir()
    inputs.tool.create(tools, inputs.python, inputs.log)
    inputs.tool.install(tools, _TOOLS, log=inputs.log)
    python = python_of(tools)
    argv: list[str | Path] = [python, "-m", "pypiserver", "run", "--port", str(port), "--interface", "127.0.0.1"]
    argv += ["--disable-fallback", "--authenticate", ".", "--passwords", ".", "--server", "wsgiref"]
    argv += ["--backend", "simple-dir", files]
    with serve(argv, port, env={**os.environ, "PYTHONUNBUFFERED": "1"}, log=inputs.folder / "server.txt") as address:
        yield LocalPyPI(address, python, inputs.tool.home, inputs.log)


def install_wheels(inputs: RehearsalInputs, registry: Registry) -> str:
    """Install the wheels from the registry, and run the project's consumer (`Rehearsal.install`)."""
    config, environment = inputs.config, inputs.folder / "user"
    script = config.document.verify.python
    if not script:
        raise NotRun("not-built", "[verify] has no Python consumer")
    names = [name for package in config.packages if (name := config.wheel_name(package))]
    runtimes = [name for runtime in config.document.runtime if (name := runtime.traits.python.distribution)]
    wanted = [f"{name}=={config.project.version}" for name in names]
    inputs.tool.create(environment, inputs.python, inputs.log)
    requirements = [*wanted, *runtimes, *config.document.verify.python_requires]
    inputs.tool.install_from(f"{registry.place}/simple/", environment, requirements, inputs.log)
    python, home = python_of(environment), inputs.folder / "home"
    home.mkdir()
    outcome = run_script(inputs, [python, "-I", config.root / script], consumer_environment(python, home))
    return f"pip install {' '.join([*wanted, *runtimes])}: {outcome}"


def name_distribution(package: Mapping[str, Any]) -> str:
    """The name of the wheel that a table `[package.<name>]` makes; "" for none."""
    if "ep" in package:
        return msgspec.convert(package["ep"], EpConfig).distribution
    wheel = package.get("wheel", {})
    return str(wheel.get("name") or PurePosixPath(wheel.get("source", "")).name.replace("_", "-"))


PUBLISHERS = (
    Publisher(
        job="pypi",
        title="PyPI",
        is_for=lambda package: "wheel" in package or "ep" in package,
        page=lambda package: f"https://pypi.org/project/{name_distribution(package)}/",
        collect="wheel/collect.yml.j2",
        publish="wheel/publish.yml.j2",
    ),
)
REHEARSALS = (
    Rehearsal(
        title="PyPI",
        standing_in="pypiserver; runtimes come from your configured index",
        job="pypi",
        kinds=("wheel", "sdist"),
        open=open_pypi,
        install=install_wheels,
    ),
)
