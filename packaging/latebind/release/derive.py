"""All files of a release that follow from the given ones, as bytes: made when it is made, and again when it is checked.

Nothing here starts a program or uses the network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from latebind.checks.policy import project_policy
from latebind.config.config import Config
from latebind.config.file import load
from latebind.errors import InputError
from latebind.release import api, layout
from latebind.release.facts import Origin, manifest, obstacles
from latebind.release.packages import ReleasePackage, read_packages
from latebind.system.files import sha256
from latebind.templates import render
from latebind.text import plural
from latebind.verify.report.data import Report, read_log, read_report
from latebind.verify.report.gate import GATE_RENDERERS, Blocker, group_blockers, judge_gate, list_package_files
from latebind.verify.report.render import renderings
from latebind.verify.report.view import report_count, view_of
from loadcheck import AuditReport
from loadcheck.api import audit_json, audit_markdown, audit_paths, count_line

if TYPE_CHECKING:
    from latebind.release.api import ApiChange, Surface


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """What was read from a release's given files, and the files that follow, by their paths in the folder."""

    config: Config
    packages: tuple[ReleasePackage, ...]
    report: Report
    audit: AuditReport
    blockers: tuple[Blocker, ...]
    old: Surface | None
    new: Surface
    changes: tuple[ApiChange, ...]
    files: Mapping[str, bytes]


def derive(folder: Path, origin: Origin) -> Derived:
    """Read the given files of a release folder and make all others.

    Raises InputError or ConfigError for what is missing or cannot be read.
    """
    config = load(folder / layout.CONFIG, alone=True)
    packages = read_packages(folder / layout.PACKAGES)
    report = read_report(folder / layout.VERIFICATION)
    audit = audit_paths([folder / layout.PACKAGES], project_policy(config))
    old = api.read_surface(folder / layout.PREVIOUS) if (folder / layout.PREVIOUS).exists() else None
    new = api.surface(config.project.version, packages)
    changes = api.changes(old, new) if old else ()
    page_of_api = api.api_markdown(old, new, changes)
    gate = judge_gate(config, report, packages=list_package_files(folder / layout.PACKAGES))
    changelog = _changelog(folder)
    blockers = (*gate.blockers, *obstacles(config, packages, report, changelog, origin))
    texts = renderings(view_of(report), lambda result: read_log(folder / layout.REPORTS, result))
    files = {
        **{f"{layout.SBOMS}/{package.bill_file}": package.bill for package in packages if package.bill},
        f"{layout.REPORTS}/audit.json": audit_json(audit).encode(),
        f"{layout.REPORTS}/audit.md": audit_markdown(audit).encode(),
        **{f"{layout.REPORTS}/{name}": text.encode() for name, text in texts.items()},
        f"{layout.REPORTS}/gate.json": GATE_RENDERERS["json"](gate).encode(),
        layout.SURFACE: api.api_json(new),
        f"{layout.API}/changes.md": page_of_api.encode(),
        layout.RELEASE_MANIFEST: manifest(config, packages, report, origin, blockers, old.version if old else ""),
    }
    if logs := _log_sums(folder):
        files[layout.LOG_SUMS] = logs
    files[layout.GUIDE] = render(
        "verify.md.j2", project=config.project, repository=_on_github(config.project.repository), has_logs=bool(logs)
    ).encode()
    page = render(
        "release.html.j2",
        plural=plural,
        project=config.project,
        origin=origin,
        packages=packages,
        links={
            package.artifact.path: quote(package.artifact.path.relative_to(folder).as_posix()) for package in packages
        },
        runtimes=config.document.runtime,
        audit=count_line(audit),
        verification=report_count(report),
        blockers=blockers,
        groups=group_blockers(blockers),
        surface=page_of_api,
        changelog=changelog,
    )
    return Derived(
        config=config, packages=packages, report=report, audit=audit, blockers=blockers,
        old=old, new=new, changes=changes,
        files={**files, layout.PAGE: page.encode()},
    )  # fmt: skip


def _log_sums(folder: Path) -> bytes:
    """The checksums of the logs, from the folder of the reports; b"" without logs."""
    reports = folder / layout.REPORTS
    logs = sorted(path for path in (folder / layout.LOGS).rglob("*") if path.is_file())
    return "".join(f"{sha256(path)}  {path.relative_to(reports).as_posix()}\n" for path in logs).encode()


def _on_github(repository: str) -> str:
    """`OWNER/NAME` of a repository on GitHub; a placeholder for others."""
    match = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?", repository)
    return match[1] if match else "OWNER/NAME"


def _changelog(folder: Path) -> str:
    try:
        return (folder / layout.CHANGES).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=layout.CHANGES) from error
