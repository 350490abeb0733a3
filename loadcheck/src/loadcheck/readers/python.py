"""Parses Python code of packages, which is untrusted, without running it."""

from __future__ import annotations

import ast
import warnings


def parse_python(code: bytes) -> ast.Module | None:
    """The syntax tree of code; None if it cannot be parsed. Callers limit its size, which decides about the time."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in texts
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
