"""What MSVC compiles keeps to words that MSVC knows. It is not here, so this, and that every build of latenn refuses
extensions of the language (-Wpedantic, -Wvla, -Werror), is all that is shown.
"""

import pytest

from tests.support.building import ROOT
from tests.support.sources import gnu_words

POSIX = {"os_posix.c", "forks_posix.c", "images_linux.c", "images_macos.c"}
"""What MSVC never compiles."""
LOADER = sorted((ROOT / "loader" / "src").glob("*.c"))
HEADERS = sorted(ROOT.glob("loader/**/*.h"))


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
