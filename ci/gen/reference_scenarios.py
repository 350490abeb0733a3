"""The site's page scenarios.md, made from the table of scenarios."""

from __future__ import annotations

from latebind.tables.presets import SYSTEMS
from latebind.verify.cases.scenarios import SCENARIOS
from latebind.verify.declared import Scenario, find_consumer, name_consumers

_HEAD = """\
<!-- Made by ci/gen/docs_site.py from packaging/latebind/verify/cases/scenarios.py. -->

# Scenarios

`latebind verify` tries each package in these scenarios. In a positive scenario, the consumer loads the library,
computes and compares with what your data expects. In a negative one, loading must fail, and the error message must
contain every text in the last column, in upper or lower case.

Placeholders: `{title}` is the runtime's name, `{dist}` its distribution, `{version}` the version in the test case,
`{minimum}` the configured minimum, `{raised}` the next minor version, `{major}` the next major version, `{path}` the
given path, `{installed}` the runtime's installed file, `{gone}` the missing library, `{own}` and `{other}` processors,
`{variable}` the runtime's environment variable, `{backend}` the missing package, `{install}` the command that installs
the runtime (`pip install "<wheel>[<extra>]"` or `dotnet add package <id>`), and `{fix}` the start of such a command.

| scenario | what it is | consumers | where | the message contains |
|---|---|---|---|---|
"""


def scenarios_page() -> str:
    """The page as Markdown."""
    return _HEAD + "".join(f"{_row(scenario)}\n" for scenario in SCENARIOS)


def _row(scenario: Scenario) -> str:
    kinds = {"python": "Python", "dotnet": ".NET", "mono": "Mono", "c": "C", "sdk": "SDK"}
    names = name_consumers(scenario.consumers)
    consumers = list(dict.fromkeys(kinds.get(name.partition("-")[0]) or find_consumer(name).title for name in names))
    where = "everywhere" if scenario.systems == SYSTEMS else ", ".join(scenario.systems)
    where += "" if scenario.emulated else "; not emulated"
    where += "; only emulated" if scenario.sandboxed else ""
    where += "; only on machines of the level `glue`" if scenario.glue else ""
    where += "; with a stand-in at the level `glue`" if scenario.in_c else ""
    title = f"{scenario.title} (*synthetic*)" if scenario.synthetic else scenario.title
    says = ", ".join(f"`{part}`" for part in scenario.says)
    return f"| `{scenario.name}` | {title} | {', '.join(consumers)} | {where} | {says} |"
