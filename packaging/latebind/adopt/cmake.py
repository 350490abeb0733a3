"""Splits CMake files into commands with their places, so that text can be changed exactly; never runs or expands any.

The grammar is cmake-language(7), "Syntax": commands, quoted, bracket and unquoted arguments, both kinds of comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<comment>\#\[(?P<c>=*)\[.*?\](?P=c)\]|\#[^\n]*)
      | (?P<bracket>\[(?P<b>=*)\[.*?\](?P=b)\])
      | (?P<quoted>"(?:[^"\\]|\\.)*")
      | (?P<paren>[()])
      | (?P<space>[\s;]+)
      | (?P<word>(?:[^\s()\#"\\;]|\\.|"(?:[^"\\]|\\.)*")+)
      | (?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument: its text without quotes, and where it is in the file."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One call of a command, with its place; `name` is in lower case, since CMake ignores case."""

    name: str
    arguments: tuple[Argument, ...]
    start: int
    end: int
    line: int

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments' texts."""
        return tuple(argument.text for argument in self.arguments)


def commands(text: str) -> list[Command]:
    """The commands of a CMake file in their order. Everything else is skipped."""
    parsed: list[Command] = []
    tokens = [match for match in _TOKEN.finditer(text) if not match["comment"] and not match["space"]]
    at = 0
    while at + 1 < len(tokens):
        name, opening = tokens[at], tokens[at + 1]
        if name.lastgroup != "word" or opening[0] != "(":
            at += 1
            continue
        arguments, at = _arguments(tokens, at + 2)
        if at > len(tokens):
            break
        line = text.count("\n", 0, name.start()) + 1
        end = tokens[at - 1].end()
        parsed.append(Command(name=name[0].lower(), arguments=arguments, start=name.start(), end=end, line=line))
    return parsed


def _arguments(tokens: list[re.Match[str]], at: int) -> tuple[tuple[Argument, ...], int]:
    """The arguments up to the closing parenthesis, and the place after it; past the end when there is none."""
    depth = 1
    arguments: list[Argument] = []
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.lastgroup == "paren":
            depth += 1 if token[0] == "(" else -1
            if depth == 0:
                return tuple(arguments), at
            continue
        arguments.append(Argument(text=_plain(token), start=token.start(), end=token.end()))
    return tuple(arguments), len(tokens) + 1


def _plain(token: re.Match[str]) -> str:
    if token.lastgroup == "quoted":
        return token[0][1:-1]
    if token.lastgroup == "bracket":
        width = len(token["b"]) + 2
        return token[0][width:-width]
    return token[0]
