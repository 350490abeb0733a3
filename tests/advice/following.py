"""Reads a printed message as its user does: the commands, options and settings that its advice names."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.advice.collect import COMMANDS, OPTIONS

_ENDS = frozenset({"or", "and", "with", "without", "on", "makes", "writes", "explains", "does", "..."})
"""Words after which a sentence goes on behind a command."""


def find_advice(template: str, printed: str) -> str | None:
    """The part of a message that was made from a template, in which {} stands for anything."""
    parts = [" ".join(part.split()) for part in template.split("{}")]
    lines = (" ".join(line.split()) for line in (*printed.splitlines(), printed))
    return next(filter(None, (_find_in_line(parts, line) for line in lines)), None)


def _find_in_line(parts: list[str], line: str) -> str | None:
    begin = line.find(parts[0])
    end = begin
    for at, part in enumerate(parts, 1):
        end = line.find(part, end) if at < len(parts) else line.rfind(part)
        if begin < 0 or end < begin:
            return None
        end += len(part)
    return line[begin:end] if parts[-1] else line[begin:]


def list_commands(text: str) -> list[list[str]]:
    """The commands that a text tells the reader to run, as a shell takes them apart."""
    found = ([*words[:-1], words[-1].rstrip(_MARKS)] for words in list_written(text))
    return [shlex.split(" ".join(words)) for words in found]


def list_written(text: str) -> list[list[str]]:
    """The words of each command, the last with the marks that follow it."""
    words = text.split()
    return [
        [word.strip("`'("), *_until_end(words[at + 1 :])]
        for at, word in enumerate(words[:-1])
        if words[at + 1].rstrip(_MARKS) in {*COMMANDS.get(word.strip("`'("), ()), *_FIRST.get(word.strip("`'("), ())}
    ]


_MARKS = "`.,;:)"
_FIRST = {"latebind": ("-C",)}
"""Options that stand before a command."""


def _until_end(words: list[str]) -> Iterator[str]:
    """The words of a command, until a sentence, a bracket or a clause ends it."""
    for word in words:
        if word in _ENDS or word.startswith("("):
            return
        yield word
        if word.rstrip(_MARKS) != word and word != ".":
            return


def list_options(text: str) -> list[str]:
    """The options of latebind that a text names."""
    words = (word.strip("`'\"(),;:.!?").partition("=")[0] for word in text.split())
    return [word for word in words if word in OPTIONS]


def list_settings(text: str) -> dict[str, str]:
    """Each `key = value` in a text, the value as TOML has it."""
    words = text.split(" ")
    settings = {}
    for at, word in enumerate(words[1:-1], 1):
        if word == "=":
            values = (" ".join(words[at + 1 : end]).rstrip(".,;:") for end in range(len(words), at + 1, -1))
            value = next(filter(_is_value, values), "")
            if value:
                settings[words[at - 1].strip("`(")] = value
    return settings


def _is_value(text: str) -> bool:
    try:
        return list(msgspec.toml.decode(f"x = {text}")) == ["x"]
    except msgspec.DecodeError:
        return False


def write_setting(file: Path, table: str, key: str, value: str) -> None:
    """Set one key of a TOML file: in the place of its old value, else as the first of its table."""
    lines, header = file.read_text("utf-8").splitlines(), f"[{table}]"
    if header not in lines:
        lines += ["", header]
    begin = lines.index(header) + 1
    end = next((at for at in range(begin, len(lines)) if lines[at].startswith("[")), len(lines))
    kept = [line for line in lines[begin:end] if line.partition("=")[0].strip() != key]
    file.write_text("\n".join([*lines[:begin], f"{key} = {value}", *kept, *lines[end:]]) + "\n", encoding="utf-8")
