"""Fills in the templates that ship with latebind; a missing value is an error."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from latebind.backend import fill as backend
from latebind.system.resources import folder

if TYPE_CHECKING:
    import jinja2


def fill(template: str, /, **values: str) -> str:
    """The text of `templates/<template>.in`, for a native build, as the build backend fills its own.

    Raises KeyError for a placeholder without a value.
    """
    return backend.fill(template, folder("templates"), **values)


def render(template: str, /, **values: object) -> str:
    """The text of a Jinja2 template in `templates/`, with LF line ends and one at the end."""
    environment = _workflow_environment() if template.endswith(".yml.j2") else _environment()
    return environment.get_template(template).render(**values).rstrip("\n") + "\n"


@cache
def _environment() -> jinja2.Environment:
    import jinja2  # noqa: PLC0415  # 100 ms that hatchling's process does not need

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder("templates")),
        undefined=jinja2.StrictUndefined,
        autoescape=jinja2.select_autoescape(("nuspec.j2", "html.j2", "xml.j2", "props.j2", "targets.j2")),
        trim_blocks=False,
        keep_trailing_newline=True,
    )
    environment.filters["toml"] = _toml
    return environment


@cache
def _workflow_environment() -> jinja2.Environment:
    """For GitHub's workflows, whose own expressions are `${{ }}`: `<< value >>`, and `<% if %>` alone on a line."""
    return _environment().overlay(
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _toml(value: object) -> str:
    """A text as a TOML string: a literal one where it can be; JSON's escapes are TOML's."""
    text = str(value)
    return f"'{text}'" if '"' in text and "'" not in text and text.isprintable() else json.dumps(text)
