"""The lists of libc's names are what ziglang gives, and hold what each library has alone."""

import shutil

import pytest
from generate import libc_symbols

from loadcheck.engine.symbols import glibc_since, is_libc_symbol


def test_the_lists_are_what_ziglang_gives():
    assert libc_symbols.main(["--check"]) == 0


def test_a_list_that_differs_is_found(tmp_path, monkeypatch, capsys):
    for file in libc_symbols.FOLDER.glob("*.txt"):
        shutil.copy(file, tmp_path)
    (tmp_path / "musl.txt").write_text("# other\n", "utf-8")
    monkeypatch.setattr(libc_symbols, "FOLDER", tmp_path)
    assert libc_symbols.main(["--check"]) == 1
    assert capsys.readouterr().out == "musl.txt differs: run python -m generate.libc_symbols\n"


@pytest.mark.parametrize(
    ("name", "glibc", "musl"),
    [
        ("malloc", True, True),
        ("sqrtf", True, True),
        ("__errno_location", True, True),
        ("__tls_get_addr", True, True),
        ("gnu_get_libc_version", True, False),
        ("__cxa_thread_atexit_impl", True, False),
        ("OrtGetApiBase", False, False),
    ],
)
def test_each_library_has_its_own_names(name, glibc, musl):
    assert (is_libc_symbol(name, "glibc"), is_libc_symbol(name, "musl")) == (glibc, musl)


@pytest.mark.parametrize(
    ("name", "since"), [("__isoc23_strtol", (2, 38)), ("getrandom", (2, 25)), ("dlopen", ()), ("malloc", ())]
)
def test_names_of_newer_versions_have_the_first_one(name, since):
    assert glibc_since(name) == since
