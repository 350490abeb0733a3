"""Reads what the CMake and pkg-config files of an SDK archive name: paths, libraries, versions."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadcheck.readers.contents import Contents

HEADERS = (".h", ".hpp", ".hxx", ".hh")
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"\n]{1,255})"', re.MULTILINE)
_VARIABLE = re.compile(r"\$\{([^${}]+)\}")
_COMPONENT = re.compile(r'get_filename_component\s*\(\s*(\S+)\s+"?([^"\s]+)"?\s+(\w+)', re.IGNORECASE)
_SET = re.compile(r'\bset\s*\(\s*(\S+)\s+"?([^"\s)]+)"?', re.IGNORECASE)
_QUOTED = re.compile(r'"([^"]*)"')
_MAY_LACK = re.compile(r"\b(EXISTS|OPTIONAL|GLOB)\b")
_UPWARDS = {"PATH", "DIRECTORY"}
_ROOTS = "usr|opt|home|root|tmp|var|etc|mnt|srv|nix|Users|Library|private|build|builds|github|work|workspace"
_ABSOLUTE = re.compile(
    rf"""(?:^|[\s"'(;=]|-[IL]|-isystem)((?:/(?:{_ROOTS})\b|/[\w.+-]+/)[\w.+/-]*|[A-Za-z]:[\\/][\w.+/\\-]*)"""
)
_PC_VARIABLE = re.compile(r"\s*([\w.]+)\s*=\s*(.*)")
_PC_FIELD = re.compile(r"\s*(Libs|Cflags)(?:\.private)?\s*:\s*(.*)")
_LONGEST = 4096
_WORD = re.compile(r'(?:[^\s"\\]|\\.|"[^"]*")+')


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkPath:
    """A path that a file names: inside the archive, or absolute."""

    file: str
    line: str
    path: str
    may_lack: bool = False
    """Whether the file copes with a path that does not exist."""

    @property
    def is_absolute(self) -> bool:
        """Whether it is absolute, and therefore specific to one machine."""
        return self.path.startswith("/") or self.path[1:2] == ":"


def sdk_texts(package: Contents, *suffixes: str) -> Iterator[tuple[str, str]]:
    """The files with those suffixes, by name."""
    for name, data in sorted(package.texts.items()):
        if name.endswith(suffixes):
            yield name, data.decode("utf-8", "replace")


def sdk_paths(package: Contents) -> Iterator[SdkPath]:
    """The paths in all CMake and pkg-config files, each once per line."""
    for name, text in sdk_texts(package, ".cmake", ".pc"):
        yield from dict.fromkeys(_of_cmake(name, text) if name.endswith(".cmake") else _of_pc(name, text))


def find_includes(text: str) -> tuple[str, ...]:
    """The headers that a header includes in quotes. Those in angle brackets may be the system's."""
    return tuple(dict.fromkeys(_INCLUDE.findall(text)))


def find_libraries(text: str) -> tuple[str, ...]:
    """The libraries of the field Libs of a pkg-config file, without -l."""
    line = next((line for line in text.splitlines() if line.startswith("Libs:")), "")
    return tuple(argument.removeprefix("-l") for argument in _WORD.findall(line) if argument.startswith("-l"))


def _of_cmake(file: str, text: str) -> Iterator[SdkPath]:
    """Paths that begin with a variable whose value is known, and absolute ones. Other expressions are left out."""
    values = {"CMAKE_CURRENT_LIST_DIR": posixpath.dirname(file), "CMAKE_CURRENT_LIST_FILE": file}
    for line in (line.strip() for line in text.splitlines()):
        if line.startswith("#"):
            continue
        for match in _ABSOLUTE.finditer(line):
            yield SdkPath(file=file, line=line, path=match[1])
        if setting := _COMPONENT.search(line) or _SET.search(line):
            value = _expand_path(setting[2], values)
            if value is not None and setting.re is _COMPONENT and setting[3].upper() in _UPWARDS:
                value = posixpath.dirname(value)
            if value is not None:
                values[setting[1]] = value
                yield SdkPath(file=file, line=line, path=value, may_lack=True)
        for part in (part for quoted in _QUOTED.findall(line) for part in quoted.split(";")):
            value = _expand_path(part, values)
            if value is not None:
                may_lack = _MAY_LACK.search(line) is not None or "*" in value
                yield SdkPath(file=file, line=line, path=value, may_lack=may_lack)


def _expand_path(text: str, values: Mapping[str, str]) -> str | None:
    """The normalized path of a text that begins with a known variable and contains no unknown ones."""
    match = _VARIABLE.match(text)
    if match is None or match[1] not in values:
        return None
    text = _fill_variables(text, values)
    return None if "$" in text else posixpath.normpath(text)


def _fill_variables(text: str, values: Mapping[str, str]) -> str:
    """A text with its variables replaced; "$" if it grows too long for a path, since values can double."""
    if len(text) <= _LONGEST:
        text = _VARIABLE.sub(lambda variable: values.get(variable[1], variable[0]), text)
    return text if len(text) <= _LONGEST else "$"


def _of_pc(file: str, text: str) -> Iterator[SdkPath]:
    values = {"pcfiledir": posixpath.dirname(file)}
    for line in (line.strip() for line in text.splitlines()):
        if match := _PC_VARIABLE.fullmatch(line):
            value = _fill_variables(match[2].strip('"'), values)
            arguments = [value] if "/" in value else []
            values[match[1]] = value
        elif match := _PC_FIELD.fullmatch(line):
            plain = (argument.replace('"', "").replace("\\ ", " ") for argument in _WORD.findall(match[2]))
            expanded = (_fill_variables(argument, values) for argument in plain)
            arguments = [
                argument[2:] if argument[:2] in ("-I", "-L") else argument
                for argument in expanded
                if not argument.startswith("-l")
            ]
            arguments = [argument for argument in arguments if "/" in argument]
        else:
            continue
        for argument in arguments:
            if "$" not in argument:
                yield SdkPath(file=file, line=line, path=posixpath.normpath(argument))
