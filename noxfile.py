# /// script
# requires-python = ">=3.10"
# dependencies = ["nox>=2025.2.9", "uv>=0.5"]
# ///
"""The project's sessions, a table of contents; what they do lives in latebind and in ci/.

`python3 noxfile.py` works on a machine that has Python, git and nothing else; `nox` does the same where nox is.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "ci"))

if __name__ == "__main__":
    import bootstrap

    sys.exit(bootstrap.main(ROOT, sys.argv[1:]))

import jobs  # noqa: E402  # in ci/, as sessions
import nox  # noqa: E402  # absent until bootstrap.py has made an environment
import sessions  # noqa: E402

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "none"  # sessions.py keeps two environments for all of them
nox.options.sessions = ["build", "package", "audit", "verify"]


@nox.session(tags=["main"])
def build(session: nox.Session) -> None:
    """One native build for each target -> stage/."""
    sessions.latebind(session, "build", *session.posargs)


@nox.session(tags=["main"])
def package(session: nox.Session) -> None:
    """Wheels, sdists and nupkgs -> dist/."""
    sessions.latebind(session, "pack", *session.posargs)


@nox.session(tags=["main"])
def audit(session: nox.Session) -> None:
    """Inspect everything in dist/."""
    sessions.latebind(session, "audit", "--output", "reports/audit.json", *session.posargs)


@nox.session(tags=["main"])
def verify(session: nox.Session) -> None:
    """Install into clean environments, load, infer, report; `-- --all` for every target, version and CPython."""
    sessions.verify(session, *session.posargs)


@nox.session
def release(session: nox.Session) -> None:
    """Pack, verify everything, and make a release folder: `-- --dry-run --output FOLDER`; `-- --check FOLDER`."""
    sessions.release(session, *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Lint, the site, then every test: `-- -m "not slow"` for the quick ones, `-- tests/audit` for some."""
    sessions.lint(session)
    sessions.docs(session)
    sessions.pytest(session, *session.posargs)


@nox.session
def emulated(session: nox.Session) -> None:
    """The loader and latenn on Windows x64 under wine and on Linux arm64 under qemu, where this machine has them."""
    sessions.pytest(session, "-m", "emulated", *session.posargs)


@nox.session
def libraries(session: nox.Session) -> None:
    """latenn's tensors in PyTorch and JAX, which it installs: half a gigabyte."""
    sessions.libraries(session, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff, mypy, import-linter, clang-format, and generated files in step."""
    sessions.lint(session)


@nox.session
def gen(session: nox.Session) -> None:
    """Write every generated file; `git diff --exit-code` then shows whether they were in step."""
    sessions.gen(session, *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation site -> site/."""
    sessions.docs(session)


@nox.session
def truth(session: nox.Session) -> None:
    """Audit pinned wheels of other projects and write docs/truth.md; `-- --check` and `-- --confirm` write nothing."""
    sessions.truth(session, *session.posargs)


@nox.session
def sabotage(session: nox.Session) -> None:
    """Break latenn's packages in many ways and say which layer catches each; `-- --write` writes docs/sabotage.md."""
    sessions.sabotage(session, *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Time audit, packing and runs against their peers: minutes, half a gigabyte of wheels; `-- latency` for some."""
    sessions.bench(session, *session.posargs)


@nox.session
def plan(session: nox.Session) -> None:
    """The cells as a matrix of GitHub Actions."""
    jobs.plan(session)


@nox.session
def cells(session: nox.Session) -> None:
    """The cells of one job of that matrix, which LATEBIND_JOB holds as JSON."""
    jobs.cells(session)


@nox.session
def gate(session: nox.Session) -> None:
    """Add up the reports of all machines, and ask the gate: `-- machines`, a folder of folders with verify.json."""
    jobs.gate(session, *session.posargs)


@nox.session
def wheels(session: nox.Session) -> None:
    """Wheels by cibuildwheel on this very system -> wheelhouse/."""
    jobs.wheels(session)


@nox.session
def compare(session: nox.Session) -> None:
    """Natively built wheels beside cross-built ones: `-- wheelhouse dist`."""
    jobs.compare(session, *session.posargs)


@nox.session
def workflows(session: nox.Session) -> None:
    """Lint the workflows and run their Linux jobs here, step by step; half an hour."""
    jobs.workflows(session)
