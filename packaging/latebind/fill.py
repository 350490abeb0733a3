"""Fills the templates that a native build needs: `@NAME@` is replaced, as in CMake's configure_file()."""

from __future__ import annotations

import re

from latebind.system.resources import folder

_PLACEHOLDER = re.compile(r"@([A-Z]+)@")


def fill(template: str, /, **values: str) -> str:
    """The text of `templates/<template>.in` with LF line ends and one at the end.

    Raises KeyError for a placeholder without a value.
    """
    text = (folder("templates") / f"{template}.in").read_text("utf-8")
    return _PLACEHOLDER.sub(lambda match: values[match[1].lower()], text).rstrip("\n") + "\n"
