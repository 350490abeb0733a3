"""A small project's release in which everything holds: real packages for two targets, and a report that all passed."""

import msgspec
import pytest

from latebind.backend.files import write_text
from latebind.config.project import read_project
from latebind.formats import find_format
from latebind.pack.record import read_record
from latebind.release.make import ReleaseInputs
from latebind.system.files import sha256
from latebind.verify.report.data import Provenance, report_json
from tests.support.client import BOUND, PORTABLE_CMAKE, PORTABLE_SOURCE, pack_project, write_client
from tests.verify.reports import complete, report

RIDS = ("linux-x64", "linux-arm64")
COMMIT = "1" * 40
CHANGELOG = """\
# Changelog

## [Unreleased]

- Something to come.

## [1.2.3] - 2026-11-20

- Adds numbers faster.

## [1.2.2] - 2026-10-01

- Older.
"""
NPM = 'nuget = { id = "Tiny" }\nnpm = { name = "@acme/tiny" }\nsdk = true'
UNVERIFIED = '[release]\nunverified = { nupkg = "no consumer", npm = "no consumer", sdk = "no consumer" }\n'
CONFIGURED = (
    BOUND.replace('["linux-x64"]', str(list(RIDS)))
    .replace('nuget = { id = "Tiny" }', NPM)
    .replace('source = "python/tiny"', 'source = "python/tiny", runtime = "none"')
    + '\n[verify]\npython = "smoke.py"\n'
    + UNVERIFIED
)
HEADER = """\
/* tiny.h */
#ifndef TINY_H
#define TINY_H
int tiny_add(int a, int b);
#endif
"""


def report_passed(config, dist):
    """A report on the packages of a folder in which every test case of the configuration passed."""
    hashes = {path.name: sha256(path) for path in sorted(dist.iterdir()) if find_format(path.name)}
    source = Provenance(commit=COMMIT, sources=read_record(dist).digest)
    return msgspec.structs.replace(report(*complete(config), packages=hashes), source=source)


def write_passed_report(config, root):
    """reports/ of a project, as report_passed()."""
    report = report_passed(config, root / "dist")
    write_text(root / "reports/verify.json", report_json(report))
    for case in report.cases:
        write_text(root / "reports" / case.log, "log")


@pytest.fixture(scope="session")
def release_inputs(tmp_path_factory):
    """What a release that may be made is made from."""
    root = tmp_path_factory.mktemp("released") / "tiny"
    write_client(
        root,
        latebind=CONFIGURED,
        cmakelists=PORTABLE_CMAKE + "install(FILES tiny.h DESTINATION include COMPONENT tiny)\n",
        tiny=PORTABLE_SOURCE,
    )
    (root / "native/tiny.h").write_text(HEADER, encoding="utf-8")
    (root / "smoke.py").write_text("", encoding="utf-8")
    project = read_project(root / "latebind.toml", root)
    pack_project(root)
    write_passed_report(project.config, root)
    write_text(root / "CHANGELOG.md", CHANGELOG)
    return ReleaseInputs(
        project=project, dist=root / "dist", report=root / "reports/verify.json", changelog=root / "CHANGELOG.md",
        commit=COMMIT,
    )  # fmt: skip
