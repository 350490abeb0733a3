"""Formats text, and makes untrusted text safe for terminals, documents and Markdown."""

from __future__ import annotations

import re


def plural(count: int, noun: str) -> str:
    """`1 symbol`, `2 symbols`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def human_size(size: int) -> str:
    """A file size for people, in decimal units: `830 bytes`, `16.4 MB`."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return plural(size, "byte")


def printable(text: str) -> str:
    """Names come from hostile files, so their control characters must not reach a terminal or a document."""
    return "".join(char if char == "\n" or char.isprintable() else ascii(char)[1:-1] for char in text)


def encodable(text: str) -> str:
    """JSON that UTF-8 can encode: tarfile returns bytes of names that are not text as lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def markdown_code(text: str) -> str:
    """A name as inline code. Only hostile names have two backticks in a row."""
    return f"`{printable(text).replace('`', chr(39)).replace('|', chr(92) + '|')}`".replace("\n", " ")


def markdown_text(text: str, longest: int) -> str:
    """Text in which nothing is Markdown or HTML, on one line."""
    short = text if len(text) <= longest else f"{text[:longest]} ..."
    return re.sub(r"([\\`*_{}\[\]<>|#~@])", r"\\\1", printable(short).replace("\n", " "))
