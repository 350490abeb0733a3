"""Runs every layer of the product over a folder of packages, whether or not an earlier one objects."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import msgspec

from latebind.backend.targets import Rid
from latebind.checks.policy import project_policy
from latebind.config.project import Project
from latebind.ecosystems.wheel.files import wheels_for
from latebind.formats import package_formats
from latebind.model import State
from latebind.system.files import sha256
from latebind.verify.choose import Request, choose_cases
from latebind.verify.packages import list_artifacts
from latebind.verify.report.data import Provenance
from latebind.verify.runner import run_cases
from loadcheck.api import audit_paths
from tests.support.broken.packages import LINUX, Packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.model import Artifact
    from latebind.verify.report.data import CaseResult
    from loadcheck import AuditReport
    from loadcheck.api import Policy
    from tests.support.broken.packages import Way

    Audit = Callable[[Sequence[Path], Policy], AuditReport]

Kind = Literal["wheel", "nupkg", "npm"]
CONSUMERS: Mapping[Kind, str] = {"wheel": "python", "nupkg": "dotnet-build", "npm": "node"}
_SUFFIXES = {form.kind: form.suffix for form in package_formats()}
_SEVERITIES = ("error", "warning", "note")
STAGES = ("install", "load", "inference")
UNTOUCHED, ELSEWHERE = "not touched", "not run: its programs do not run on linux-x64"


class Caught(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the layers report about one way: codes with severities, and the stage where each package fails."""

    audit: dict[str, str]
    wheel: str
    """The stage that failed; "passed"; or why it was not tried."""
    nupkg: str
    npm: str = UNTOUCHED

    @property
    def runs(self) -> tuple[str, str, str]:
        """What the kinds of packages that are installed came to, in the order of the page."""
        return self.wheel, self.nupkg, self.npm

    @property
    def layers(self) -> list[str]:
        """The layers that catch it, the earliest first; a note of the audit catches nothing."""
        by_audit = ["audit"] if set(self.audit.values()) & {"error", "warning"} else []
        return by_audit + [stage for stage in STAGES if stage in self.runs]


def break_packages(way: Way, good: Path, scratch: Path) -> Path:
    """A copy of the good packages, broken that way."""
    folder = scratch / "rows" / way.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in good.iterdir():
        if path.name.endswith(way.among):
            shutil.copyfile(path, folder / path.name)
    way.breaks(Packages(folder=folder, scratch=scratch))
    return folder


def audit_packages(folder: Path, config: Config, audit: Audit = audit_paths) -> dict[str, str]:
    """What the product's own audit finds with the project's policy: for each code the weightiest severity."""
    severities: dict[str, str] = {}
    for finding in audit([folder], project_policy(config)).findings:
        severities[finding.code] = min(
            finding.severity, severities.get(finding.code, finding.severity), key=_SEVERITIES.index
        )
    return dict(sorted(severities.items()))


def run_layers(way: Way, good: Path, scratch: Path, config: Config) -> Caught:
    """Break the packages, audit them, install, load and compute with them; print what fails."""
    folder = break_packages(way, good, scratch)
    outcomes = _verify_packages(way, good, folder, scratch, config)
    for outcome in outcomes:
        if outcome.outcome is State.FAILED:
            first = outcome.reason.strip().partition("\n")[0]
            print(f"    {outcome.kind}: {first[:300]}", flush=True)
    severities = audit_packages(folder, config)
    shutil.rmtree(folder)
    return Caught(audit=severities, **{kind: _describe_outcome(way, kind, outcomes) for kind in CONSUMERS})


def _verify_packages(way: Way, good: Path, folder: Path, scratch: Path, config: Config) -> tuple[CaseResult, ...]:
    if way.target != LINUX:
        return ()
    before = tuple(artifact for artifact in list_artifacts(good) if artifact.path.name.endswith(way.among))
    after = list_artifacts(folder)
    touched = [
        kind
        for kind in CONSUMERS
        if way.name == "control" or _list_installed(kind, before) != _list_installed(kind, after)
    ]
    if not touched:
        return ()
    patterns = tuple(f"*/{CONSUMERS[kind]}*/*onnxruntime-*/works" for kind in touched)
    # Only what uses ONNX Runtime is broken: the other backends' runtimes need not be installed.
    request = Request(rids=(Rid(LINUX),), patterns=patterns)
    project = Project(config=_latest(config), workdir=scratch / "work")
    return run_cases(project, choose_cases(project, request), after, Provenance()).cases


def _latest(config: Config) -> Config:
    """The configuration with the latest version of each runtime alone."""
    verification = config.document.verify
    runtimes = {runtime.name: ("latest",) for runtime in config.document.runtime}
    document = msgspec.structs.replace(
        config.document, verify=msgspec.structs.replace(verification, runtimes=runtimes, each_minor=())
    )
    return replace(config, document=document)


def _list_installed(kind: Kind, artifacts: Iterable[Artifact]) -> set[tuple[str, str]]:
    """Name and content of what a test case of that kind installs."""
    chosen = (
        wheels_for(Rid(LINUX), artifacts, f"{sys.version_info.major}.{sys.version_info.minor}")
        if kind == "wheel"
        else [artifact for artifact in artifacts if artifact.kind == kind]
    )
    return {(artifact.path.name, sha256(artifact.path)) for artifact in chosen}


def _describe_outcome(way: Way, kind: Kind, outcomes: Iterable[CaseResult]) -> str:
    if _SUFFIXES[kind] not in way.among:
        return UNTOUCHED
    if way.target != LINUX:
        return ELSEWHERE
    outcome = next((candidate for candidate in outcomes if candidate.kind == kind), None)
    if outcome is None:
        return UNTOUCHED
    if outcome.outcome is State.NOT_RUN:
        return f"not run: {outcome.reason}"
    return str(outcome.facts["phase"]) if outcome.outcome is State.FAILED else "passed"
