from types import SimpleNamespace

import pytest

from loadcheck.binary.elfsystem import find_system


def system_of(*, number=0, owners=(), needed=(), versions=None, interpreter=""):
    file = SimpleNamespace(data=bytes(7) + bytes([number]), list_note_owners=lambda: frozenset(owners))
    return find_system(file, needed, versions or {}, interpreter)


@pytest.mark.parametrize(
    ("signs", "system"),
    [
        ({"number": 9}, "freebsd"),
        ({"number": 3, "owners": [b"GNU"]}, ""),
        ({"owners": [b"GNU", b"Android"]}, "android"),
        ({"owners": [b"OHOS"]}, "openharmony"),
        ({"owners": [b"OpenBSD"]}, "openbsd"),
        ({"interpreter": "/libexec/ld-elf.so.1"}, "freebsd"),
        ({"interpreter": "/lib64/ld-linux-x86-64.so.2"}, ""),
        ({"needed": ["libc.so.7"]}, "freebsd"),
        ({"needed": ["libc.so.12"]}, "netbsd"),
        ({"needed": ["libc.so"]}, ""),
        ({"needed": ["libc.so"], "versions": {"libc.so": ("LIBC",)}}, "android"),
        ({"needed": ["libc.so.6"], "versions": {"libc.so.6": ("GLIBC_2.17",)}}, ""),
        ({"versions": {"libc.so.7": ("FBSD_1.0",)}}, "freebsd"),
        ({"versions": {"libsocket.so.1": ("SUNW_1.1",)}}, "solaris"),
    ],
)
def test_a_file_says_for_which_system_it_is(signs, system):
    assert system_of(**signs) == system
