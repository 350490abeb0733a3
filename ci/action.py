"""The action of action.yml: latebind in an environment of its own, an audit, annotations, and the job's summary."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Audit what the inputs name; the audit's exit status."""
    paths = [line.strip() for line in os.environ.get("AUDIT_PATHS", "dist").splitlines() if line.strip()]
    presets = [word for name in os.environ.get("AUDIT_PRESET", "").split() for word in ("--preset", name)]
    project = os.environ.get("AUDIT_PROJECT", "")
    profile = os.environ.get("AUDIT_PROFILE", "")
    latebind = [_environment(), "-m", "latebind.cli", *(["-C", project] if project else [])]
    audit = [*latebind, "audit", *paths, *presets, *(["--profile", profile] if profile else [])]
    status = subprocess.run([*audit, "--format", "github"], check=False).returncode
    for variable, form in (("GITHUB_STEP_SUMMARY", "markdown"), ("AUDIT_SARIF", "sarif")):
        if file := os.environ.get(variable):
            told = subprocess.run([*audit, "--format", form], check=False, stdout=subprocess.PIPE).stdout
            with Path(file).open("ab" if form == "markdown" else "wb") as stream:
                stream.write(told)
    return status


def _environment() -> str:
    """The interpreter of an environment with this very latebind."""
    folder = Path(os.environ.get("RUNNER_TEMP") or tempfile.gettempdir()) / "latebind-audit"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(ROOT)], check=True)
    return str(python)


if __name__ == "__main__":
    sys.exit(main())
