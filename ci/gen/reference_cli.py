"""The reference page of the command line, from argparse's own tree and the examples that `--help` shows."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ci.gen.reference_text import escape_markdown
from latebind.cli import _parser
from latebind.commands.examples import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = """\
<!-- Made by ci/gen/docs_site.py from the command line itself. -->

# Command line

```text
latebind [-C DIR] [--workdir DIR] [-v | -q] COMMAND ...
```

What each exit status means is in [versions](../versions.md). With `NO_COLOR` set, the output has no colors.
`latebind COMMAND --help` prints what is below.
"""


def page() -> str:
    """The page."""
    parser = _parser()
    lines = [_HEAD, "## Before the command", "", *_table(parser)]
    for name, command in commands(parser).items():
        lines += [f"## latebind {name}", "", f"{_sentence(command.description)}", ""]
        lines += ["```text", _usage(command), "```", ""]
        actions = [action for action in command._actions if not _is_common(action)]  # noqa: SLF001
        lines += _table(command) if actions else []
        lines += ["```console", *_examples(name), "```", ""] if name in EXAMPLES else []
    return "\n".join(lines)


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands by name, in order."""
    for action in parser._actions:  # noqa: SLF001  # argparse has no other way to ask
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return dict(action.choices)
    return {}


def options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """(words, meaning) of each option and argument."""
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            continue
        value = "" if action.nargs == 0 else action.metavar or f"{{{','.join(map(str, action.choices or ()))}}}"
        yield ", ".join(action.option_strings) or str(value), _meaning(action, str(value))


def _meaning(action: argparse.Action, value: str) -> str:
    meaning = (action.help or "").replace("%(default)s", str(action.default)).strip()
    if action.option_strings and value and not value.startswith("{"):
        meaning = f"`{value}`: {meaning}" if meaning else f"`{value}`"
    if action.choices is not None and value.startswith("{"):
        choices = ", ".join(f"`{choice}`" for choice in action.choices)
        default = f"; by default `{action.default}`" if action.default is not None else ""
        meaning = f"{meaning + ': ' if meaning else ''}{choices}{default}"
    return escape_markdown(meaning).replace("|", "\\|")


def _table(parser: argparse.ArgumentParser) -> list[str]:
    common = parser.prog != "latebind"
    pairs = [
        pair for pair in options(parser) if not (common and pair[0] in ("-h, --help", "-v, --verbose", "-q, --quiet"))
    ]
    return ["| option | meaning |", "|---|---|", *(f"| `{option}` | {meaning} |" for option, meaning in pairs), ""]


def _is_common(action: argparse.Action) -> bool:
    return action.dest in ("help", "verbose", "quiet")


def _usage(command: argparse.ArgumentParser) -> str:
    command.formatter_class = lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=100)
    return command.format_usage().strip().removeprefix("usage: ")


def _sentence(text: str | None) -> str:
    sentence = escape_markdown(text or "")
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _examples(name: str) -> list[str]:
    return [f"$ {line}  # {what}" for line, what in EXAMPLES[name]]
