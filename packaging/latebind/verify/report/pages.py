"""docs/scenarios.md, made from the table of scenarios."""

from __future__ import annotations

from latebind.verify.plan.scenarios import SCENARIOS, Scenario

_HEAD = """\
<!-- Made by ci/gen.py from packaging/latebind/verify/plan/scenarios.py. -->

# Scenarios

The ways in which `latebind verify` tries each package. A positive one loads, computes, and compares with what the
project's data expects; a negative one expects that loading fails and that the sentence which a user sees holds every
text in the last column, whatever the case of its letters.

In these, `{title}` is the runtime's name, `{dist}` its distribution, `{version}` the version in the cell, `{minimum}`
the configured floor, `{raised}` the next minor version, `{major}` the next major one, `{path}` the path that was given,
`{installed}` the runtime's installed file, `{gone}` the library that is missing, `{own}` and `{other}` processors,
`{variable}` the runtime's environment variable, `{backend}` the package that is not there, `{install}` the command
that brings the runtime (`pip install "<wheel>[<extra>]"` or `dotnet add package <id>`), and `{mend}` how such a command
begins (`pip install` or `dotnet add package`).

| scenario | what it is | consumers | where | the sentence holds |
|---|---|---|---|---|
"""


def scenarios_page() -> str:
    """The page as Markdown."""
    return _HEAD + "".join(f"{_row(scenario)}\n" for scenario in SCENARIOS)


def _row(row: Scenario) -> str:
    kinds = {"python": "Python", "dotnet": ".NET", "mono": "Mono", "c": "C"}
    consumers = list(dict.fromkeys(kinds[name.partition("-")[0]] for name in row.consumers))
    where = "everywhere" if len(row.systems) == len(("linux", "macos", "windows")) else ", ".join(row.systems)
    where += "" if row.emulated else "; not emulated"
    where += "; emulated alone" if row.sandboxed else ""
    title = f"{row.title} (*synthetic*)" if row.synthetic else row.title
    says = ", ".join(f"`{part}`" for part in row.says)
    return f"| `{row.name}` | {title} | {', '.join(consumers)} | {where} | {says} |"
