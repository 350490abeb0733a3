"""What MSVC compiles keeps to words that MSVC knows. It is not here, so this, and that every build of latenn refuses
extensions of the language (-Wpedantic, -Wvla, -Werror), is all that is shown.
"""

import re

import pytest

from tests.conftest import ROOT

POSIX = {"os_posix.c", "forks_posix.c", "images_linux.c", "images_macos.c"}
"""What MSVC never compiles."""
GNU = re.compile(r"\b(__atomic_\w+|__sync_\w+|__builtin_\w+|__attribute__|__typeof__|__extension__|__thread)\b|\(\{")

LOADER = sorted((ROOT / "loader" / "src").glob("*.c"))
HEADERS = sorted(ROOT.glob("loader/**/*.h"))


def gnu_words(text):
    """GNU's words outside of what only its compilers see."""
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    bare = re.sub(r"#if defined\(__(?:GNUC|clang)__\).*?#(?:else|endif)", "", bare, flags=re.DOTALL)
    bare = re.sub(r"(#(?:el)?if defined\(_WIN32\).*?)#else.*?#endif", r"\1", bare, flags=re.DOTALL)
    return [match.group() for match in GNU.finditer(bare)]


@pytest.mark.parametrize(
    "source", [file for file in (*LOADER, *HEADERS) if file.name not in POSIX], ids=lambda file: file.name
)
def test_no_word_is_gnus_own(source):
    assert gnu_words(source.read_text("utf-8")) == []


def test_the_check_sees_what_it_should():
    assert gnu_words("int f(int n) { return ({ n; }) + __atomic_load_n(&n, 0); }") == ["({", "__atomic_load_n"]
    assert gnu_words("#if defined(_WIN32)\n__builtin_trap();\n#else\n__sync_synchronize();\n#endif") == [
        "__builtin_trap"
    ]
