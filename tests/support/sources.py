"""Reads C sources for what they must not have."""

from __future__ import annotations

import re

from tests.support.building import ROOT

GNU = re.compile(r"\b(__atomic_\w+|__sync_\w+|__builtin_\w+|__attribute__|__typeof__|__extension__|__thread)\b|\(\{")
READS = re.compile(r"\b(?:secure_getenv|_?w?getenv(?:_s)?|GetEnvironmentVariable[AW]?|environ)\b\(?")


def gnu_words(text):
    """GNU's words outside of what only its compilers see."""
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    bare = re.sub(r"#if defined\(__(?:GNUC|clang)__\).*?#(?:else|endif)", "", bare, flags=re.DOTALL)
    bare = re.sub(r"(#(?:el)?if defined\(_WIN32\).*?)#else.*?#endif", r"\1", bare, flags=re.DOTALL)
    return [match.group() for match in GNU.finditer(bare)]


def find_readers(folder):
    """The sources that read the environment; headers of a system declare the functions that do."""
    return {
        str(path.relative_to(ROOT))
        for path in folder.rglob("*.[ch]")
        if "msvc" not in path.parts and READS.search(re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL))
    }
