"""Compares the tag of a release with its version and its commit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from latebind.errors import InputError
from latebind.release.contradictions import Contradiction
from latebind.semver import version_of
from latebind.system.git import ask_git

_TAGS = "refs/tags/"
_FORMAT = "%(refname:strip=2)%00%(objectname)%00%(*objectname)"
_START = re.compile(r"(?<![0-9.])[0-9]")
"""Where a version may begin in a tag: after `v`, `release-`, `tiny/v`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """The tag that starts a release, and its commit where it is known."""

    name: str
    commit: str = ""


def read_tag(option: str | None, environment: Mapping[str, str] | None = None) -> Tag | None:
    """The tag of `--tag`, else of the GitHub Actions run; None without either.

    Raises InputError when both name a tag and they differ.
    """
    env = os.environ if environment is None else environment
    reference = env.get("GITHUB_REF", "")
    of_run = env.get("GITHUB_REF_NAME", "") if env.get("GITHUB_REF_TYPE") == "tag" else ""
    of_run = of_run or (reference.removeprefix(_TAGS) if reference.startswith(_TAGS) else "")
    named = (option or "").removeprefix(_TAGS)
    if named and of_run and named != of_run:
        raise InputError(
            f"--tag is {named}, but this run is for the tag {of_run}",
            advice=f"Leave out --tag, or write: --tag {of_run}",
        )
    if option is not None and not named:
        raise InputError("--tag is empty", advice="Name the tag, such as --tag v1.2.3, or leave the option out.")
    if not named and not of_run:
        return None
    return Tag(name=named or of_run, commit=env.get("GITHUB_SHA", "") if of_run else "")


def check_tag(tag: Tag, project: str, version: str, commits: Mapping[str, str]) -> Iterator[Contradiction]:
    """What in a release disagrees with its tag. `commits` are the recorded ones, by the file that records them."""
    matching = f"v{version}"
    if not is_for(tag.name, project, version):
        yield Contradiction(
            file=f"tag {tag.name}",
            why=f"does not match the version {version} of {project}",
            fix=f"Set version in latebind.toml to that of the tag, commit, and move the tag; or tag {matching}.",
        )
    for file, commit in commits.items():
        if tag.commit and commit != tag.commit:
            recorded = f"records the commit {commit}" if commit else "records no commit"
            yield Contradiction(
                file=file,
                why=f"{recorded}, but the tag {tag.name} is at {tag.commit}",
                fix="Check out the tag without changes, then run latebind pack, latebind verify and latebind release.",
            )


def list_tags(root: Path, project: str, version: str, named: str = "") -> dict[str, str]:
    """The tags of a version in the project's repository, each with its commit.

    Without the `named` tag of a release, its prefix is unknown: a tag counts whatever is before the version. With it,
    others count only where they are tags of the project.
    """
    lines = ask_git(root, "for-each-ref", f"--format={_FORMAT}", "refs/tags").splitlines()
    tags = {name: peeled or object_ for name, object_, peeled in (line.split("\0") for line in lines)}
    return {
        name: commit
        for name, commit in tags.items()
        if is_for(name, project, version) or (not named and _find_version(name) == Version(version))
    }


def is_for(tag: str, project: str, version: str) -> bool:
    """Whether a tag is the version, also after `v`, or after the project's name as in `tiny-v1.2.3`."""
    pattern = rf"(?:{re.escape(project)}[-_/@])?v?(?P<version>\d.*)"
    match = re.fullmatch(pattern, tag, re.IGNORECASE)
    return match is not None and version_of(match["version"]) == Version(version)


def _find_version(tag: str) -> Version | None:
    """The version at the end of a tag; None where there is none."""
    versions = (version_of(tag[start.start() :]) for start in _START.finditer(tag))
    return next(filter(None, versions), None)
