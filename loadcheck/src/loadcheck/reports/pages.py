"""Renders the documentation page of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.catalog import FAMILIES

if TYPE_CHECKING:
    from loadcheck.engine.check import Check

_FORMATS = {"elf": "ELF", "macho": "Mach-O", "pe": "PE"}


def render_page(check: Check) -> str:
    """The page of one check, in Markdown; also what `--explain` prints."""
    family = f"checks of {check.origin}" if check.origin else FAMILIES[check.code[:3]]
    formats = "" if check.scope != "binary" else f" ({', '.join(_FORMATS[name] for name in check.formats)})"
    profiles = f"the profile{'s' if len(check.profiles) > 1 else ''} {', '.join(check.profiles)}"
    article = "an error" if check.severity == "error" else f"a {check.severity}"
    because = f"\n\n**Why {article}:** {check.because}" if check.because else ""
    return f"""\
# {check.code}: {check.title}

**{family}** · {check.severity} · applies to {", ".join(check.kinds)}{formats} · in {profiles}

## Why

{check.rationale}{because}

## Example

```text
{check.example}
```

## Fix

{check.fix}

## Suppress

`--ignore {check.code}` leaves out the check. `--write-baseline FILE` keeps the findings of today, which
`--baseline FILE` then leaves out. To accept a finding, add this to `loadcheck.toml`, with a subject that is as narrow
as possible. In `pyproject.toml` the table is `[[tool.loadcheck.waive]]`; in the `latebind.toml` of a project that
latebind packs, `[[audit.waive]]`.

```toml
[[waive]]
code = "{check.code}"
subject = "*"
reason = "why this is accepted here"
```

A waived finding stays in the report, with its reason.
"""
