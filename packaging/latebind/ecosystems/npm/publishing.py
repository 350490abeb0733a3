"""Publishes npm packages: from a workflow, and on a local registry, from where it installs them by name."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from latebind.ecosystems.npm.config import npm_tables
from latebind.ecosystems.npm.consumer import NODE
from latebind.ecosystems.npm.files import FORMATS
from latebind.ecosystems.npm.programs import NPM_INSTALL, find_program, node_environment, npm_environment, run_npm
from latebind.ecosystems.publishing import AGAIN, Publisher, Registry, Rehearsal, RehearsalInputs, run_script
from latebind.errors import NotRun, ToolError
from latebind.system.run import run
from latebind.system.serve import find_free_port, serve

_SERVER = {
    "private": True,
    "dependencies": {"verdaccio": "~6.2.0"},
    "overrides": {"node-fetch": "2.6.7"},  # it asks for a tag of node-fetch, which not every mirror has
}
"""The last verdaccio that runs with Node.js 18."""
_CONFIG = """\
storage: ./storage
uplinks:
  configured: {{ url: {upstream} }}
packages:
{ours}  "**": {{ access: $all, proxy: configured }}
log: {{ type: stdout, format: pretty, level: warn }}
"""
_TIME_LIMIT = 600.0
"""For a publication with its repetitions."""
_RETRIES = {"npm_config_fetch_retries": "3", "npm_config_fetch_retry_mintimeout": "500"}


@dataclass(frozen=True, slots=True)
class LocalNpm:
    """verdaccio, on which npm publishes; npm tries again when the server fails."""

    place: str
    folder: Path
    home: Path
    log: Path

    def find(self, file: Path) -> str:
        """The file's SHA-256 where npm has the same integrity, another text where it has another, "" for none."""
        identity = FORMATS[0].identify(file)
        ident = f"{identity.name}@{identity.version}"
        try:
            answer = run_npm(["view", ident, "dist.integrity", "--json", *self._options], self.folder, self.home)
        except ToolError as error:
            if "E404" in error.message:
                return ""
            raise
        data = file.read_bytes()
        ours = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
        published = json.loads(answer) if answer.strip() else ""
        return hashlib.sha256(data).hexdigest() if published == ours else str(published)

    def upload(self, file: Path) -> None:
        """Publish a file."""
        argv: list[str | Path] = [find_program("npm"), "publish", file, "--ignore-scripts", *self._options]
        environment = {**npm_environment(self.home), **_RETRIES}
        run(argv, cwd=self.folder, env=environment, timeout=_TIME_LIMIT, log=self.log, advice=AGAIN)

    @property
    def _options(self) -> tuple[str, str, str]:
        token = f"--{self.place.partition(':')[2]}/:_authToken=local"
        return ("--registry", self.place, token)


@contextmanager
def open_npm(inputs: RehearsalInputs) -> Iterator[LocalNpm]:
    """An npm registry of this machine. Raises NotRun without Node.js or a registry that has verdaccio."""
    program, home, server, port = find_program("node"), inputs.tool.home, inputs.folder / "server", find_free_port()
    server.mkdir()
    (server / "package.json").write_text(json.dumps(_SERVER), encoding="utf-8")
    run_npm(NPM_INSTALL, server, home, inputs.log)
    upstream = run_npm(["config", "get", "registry"], server, home).strip()
    tables = npm_tables(inputs.config.packages).values()
    ours = "".join(f'  "{table.name}*": {{ access: $all, publish: $all }}\n' for table in tables)
    (server / "config.yaml").write_text(_CONFIG.format(upstream=upstream, ours=ours), encoding="utf-8")
    start = server / "node_modules/verdaccio/bin/verdaccio"
    argv: list[str | Path] = [program, start, "--config", server / "config.yaml", "--listen", f"127.0.0.1:{port}"]
    with serve(argv, port, env=npm_environment(home), log=inputs.folder / "server.txt") as address:
        yield LocalNpm(address, server, home, inputs.log)


def install_npm(inputs: RehearsalInputs, registry: Registry) -> str:
    """Install the npm packages from the registry, and run the project's consumer (`Rehearsal.install`)."""
    config, app = inputs.config, inputs.folder / "user"
    program = config.document.verify.find_program(NODE)
    if not program:
        raise NotRun("not-built", "[verify] has no Node.js consumer")
    shutil.copytree(config.root / program, app, ignore=shutil.ignore_patterns("node_modules", "package-lock.json"))
    manifest: dict[str, Any] = json.loads((app / "package.json").read_bytes())
    names = [f"{table.name}@{config.project.version}" for table in npm_tables(config.packages).values()]
    runtimes = [runtime.traits.npm for runtime in config.document.runtime if runtime.traits.npm]
    run_npm([*NPM_INSTALL, "--registry", registry.place, *names, *runtimes], app, inputs.tool.home, inputs.log)
    outcome = run_script(
        inputs, [find_program("node"), app / str(manifest["main"])], node_environment(inputs.tool.home)
    )
    return f"npm install {' '.join([*names, *runtimes])}: {outcome}"


PUBLISHERS = (
    Publisher(
        job="npm",
        title="npm",
        is_for=lambda package: "npm" in package,
        page=lambda package: f"https://www.npmjs.com/package/{package['npm']['name']}",
        collect="npm/collect.yml.j2",
        publish="npm/publish.yml.j2",
    ),
)
REHEARSALS = (
    Rehearsal(
        title="npm",
        standing_in="verdaccio; runtimes come from your configured registry",
        job="npm",
        kinds=("npm",),
        open=open_npm,
        install=install_npm,
    ),
)
