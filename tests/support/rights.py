"""What a job with rights may do: it carries files from artifacts to an index, and runs no code that others change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

_CARRIERS = {
    *("actions/attest", "actions/deploy-pages", "actions/download-artifact", "actions/setup-node"),
    *("NuGet/login", "pypa/gh-action-pypi-publish"),
}
"""Actions that install nothing of the project and nothing that a package index resolves."""
_CODE = re.compile(
    r"""(?x) (?<![\w./-])(
    pip3? | pipx | uvx? | npx | python3? | node | nox | tox | pytest | latebind | make | cmake | bash | sh | source
    | npm\s+(?:ci|i|install|exec|run) | dotnet(?!\s+nuget\s+push) | \./\S+ | ci/\S+ )(?![\w-])"""
)


def has_rights(job: Mapping[str, Any]) -> bool:
    """Whether a job may write, take a token for trusted publishing, or read a secret."""
    return "write" in job["permissions"].values() or "secrets." in yaml.safe_dump(job)


def list_violations(job: Mapping[str, Any]) -> Iterator[str]:
    """The steps of a job with rights that run code which neither the workflow nor a pinned action contains."""
    for step in job.get("steps", ()):
        action = step.get("uses", "").partition("@")[0]
        if action and action not in _CARRIERS:
            yield action
        commands = re.sub(r"\"\./\$file\"", "", step.get("run", ""))
        yield from (match[0] for match in _CODE.finditer(commands))
    if "steps" not in job:
        yield job["uses"]
