# /// script
# requires-python = ">=3.10"
# dependencies = ["nox>=2025.2.9", "uv>=0.5"]
# ///
"""The project's sessions. Each calls latebind or a program in ci/ or research/.

`python3 noxfile.py` needs Python and git only; it installs nox. With nox installed, `nox` does the same.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

if __name__ == "__main__":
    from ci import bootstrap

    sys.exit(bootstrap.main(ROOT, sys.argv[1:]))

import nox  # noqa: E402  # absent until bootstrap.py has made an environment

from ci import jobs, sessions  # noqa: E402

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "none"  # sessions.py keeps two environments for all of them
nox.options.sessions = ["build", "package", "audit", "verify"]


@nox.session(tags=["main"])
def build(session: nox.Session) -> None:
    """Compile latenn once for each target, in stage/."""
    sessions.latebind(session, "build", *session.posargs)


@nox.session(tags=["main"])
def package(session: nox.Session) -> None:
    """Make wheels, sdists and NuGet packages in dist/."""
    sessions.latebind(session, "pack", *session.posargs)


@nox.session(tags=["main"])
def audit(session: nox.Session) -> None:
    """Check everything in dist/."""
    sessions.latebind(session, "audit", "--output", "reports", *session.posargs)


@nox.session(tags=["main"])
def verify(session: nox.Session) -> None:
    """Verify packages in clean environments; `-- --all` for every target, version and CPython."""
    sessions.verify(session, *session.posargs)


@nox.session
def release(session: nox.Session) -> None:
    """Pack, verify everything, and make a release folder: `-- --dry-run --output FOLDER`; `-- --check FOLDER`."""
    sessions.release(session, *session.posargs)


@nox.session
def rehearse(session: nox.Session) -> None:
    """Go through a release of latenn on this machine: workflow, local registries, installation, verification."""
    sessions.rehearse(session, *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Lint and the quick tests, in about 5 minutes; `-- tests/audit` for some of them."""
    sessions.lint(session)
    sessions.pytest(session, "-m", "not slow and not emulated and not workflows", *session.posargs)


@nox.session
def full(session: nox.Session) -> None:
    """The site, and the slow tests that `tests` leaves out."""
    sessions.docs(session)
    sessions.pytest(session, "-m", "slow and not emulated and not workflows", *session.posargs)


@nox.session
def emulated(session: nox.Session) -> None:
    """Test the loader and latenn on Windows x64 with wine and on Linux arm64 with qemu, where they are installed."""
    sessions.pytest(session, "-m", "emulated", *session.posargs)


@nox.session
def libraries(session: nox.Session) -> None:
    """Test latenn's tensors in PyTorch and JAX, which it installs (half a gigabyte)."""
    sessions.libraries(session, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Run ruff, mypy, import-linter, clang-format, the glossary and the generators' check."""
    sessions.lint(session)


@nox.session
def gen(session: nox.Session) -> None:
    """Write every generated file; `git diff --exit-code` then shows whether anything was out of date."""
    sessions.program(session, "ci.gen", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site in site/."""
    sessions.docs(session)


@nox.session
def truth(session: nox.Session) -> None:
    """Audit pinned wheels of other projects and write docs/truth.md; `-- --check` and `-- --confirm` only compare."""
    sessions.program(session, "research.truth", *session.posargs)


@nox.session
def sabotage(session: nox.Session) -> None:
    """Break latenn's packages in many ways and report which layer catches each; `-- --write` keeps the result."""
    sessions.program(session, "research.sabotage", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Benchmark audit, packing and runs against other tools (half a gigabyte of wheels); `-- latency` for one."""
    sessions.bench(session, *session.posargs)


@nox.session
def plan(session: nox.Session) -> None:
    """Print the test cases as a GitHub Actions matrix."""
    jobs.plan(session)


@nox.session
def cases(session: nox.Session) -> None:
    """Run the test cases of one job of that matrix: LATEBIND_JOB has it as JSON."""
    jobs.cases(session)


@nox.session
def gate(session: nox.Session) -> None:
    """Merge the reports of all machines and run the gate: `-- machines`, a folder of folders with verify.json."""
    jobs.gate(session, *session.posargs)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build wheels with cibuildwheel on this system, in wheelhouse/."""
    jobs.wheels(session)


@nox.session
def compare(session: nox.Session) -> None:
    """Compare natively built wheels with cross-built ones: `-- wheelhouse dist`."""
    sessions.program(session, "research.compare", *session.posargs)


@nox.session
def workflows(session: nox.Session) -> None:
    """Lint the workflows and run their Linux jobs here, step by step (half an hour)."""
    jobs.workflows(session)
