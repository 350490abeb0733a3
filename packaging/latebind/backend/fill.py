"""Fills the templates that a build needs: `@NAME@` is replaced, as in CMake's configure_file()."""

from __future__ import annotations

import re
from pathlib import Path

_PLACEHOLDER = re.compile(r"@([A-Z]+)@")
_TEMPLATES = Path(__file__).with_name("templates")


def fill(template: str, folder: Path = _TEMPLATES, /, **values: str) -> str:
    """The text of the template `<template>.in` in a folder, with LF line ends and one at the end.

    Raises KeyError for a placeholder without a value.
    """
    text = (folder / f"{template}.in").read_text("utf-8")
    return _PLACEHOLDER.sub(lambda match: values[match[1].lower()], text).rstrip("\n") + "\n"
