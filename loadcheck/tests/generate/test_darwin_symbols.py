"""The list of libSystem's names is what ziglang gives, and has the macOS of each function that Apple's headers date."""

import pytest
from generate import darwin_symbols

from loadcheck.engine.symbols import is_libc_symbol, macos_since

SYSTEM = "/usr/lib/libSystem.B.dylib"


def test_the_list_is_what_ziglang_gives():
    assert darwin_symbols.main(["--check"]) == 0


def test_a_list_that_differs_is_found(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(darwin_symbols, "PATH", tmp_path / "darwin.txt")
    assert darwin_symbols.main(["--check"]) == 1
    assert capsys.readouterr().out == "darwin.txt differs: run python -m generate.darwin_symbols\n"


@pytest.mark.parametrize(
    ("name", "since"),
    [
        ("clock_gettime", (10, 12)),
        ("mkostemp", (10, 12)),
        ("os_unfair_lock_lock", (10, 12)),
        ("open_memstream", (10, 13)),
        ("utimensat", (10, 13)),
        ("openat", (10, 10)),
        ("memset_s", (10, 9)),
        ("timespec_get", (10, 15)),
        ("___chkstk_darwin", (10, 15)),
        ("pwritev", (11, 0)),
        ("__ulock_wait2", (11, 0)),
        ("malloc", ()),
        ("wait", ()),
        ("_tlv_bootstrap", ()),
    ],
)
def test_a_name_has_the_macos_that_first_had_it(name, since):
    assert is_libc_symbol(name, "darwin")
    assert macos_since(name, SYSTEM) == since
