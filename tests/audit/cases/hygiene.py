"""Bad subjects for LB6xx, hostile archives among them."""

from __future__ import annotations

import copy
import stat
import tarfile
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

from latebind.audit.policy import Policy

from tests.audit.cases.case import Case
from tests.audit.corpus import GOOD, Bench

if TYPE_CHECKING:
    from pathlib import Path

LIB = "latenn/liblatenn.so"
KEY = b"-----BEGIN " + b"RSA PRIVATE KEY-----\nnot a key\n"


def whole(bench: Bench):
    return bench.wheel()


def hostile(change, name: str = "hostile.zip"):
    """A zip that `change` fills with what honest tools do not write."""

    def make(bench: Bench) -> list[Path]:
        path = bench.folder / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("good.txt", b"good")
            change(archive)
        return [path]

    return make


def honest(bench: Bench):
    return hostile(lambda archive: archive.writestr("other.txt", b"x"), "honest.zip")(bench)


def member(name: str, data: bytes = b"x", mode: int = stat.S_IFREG | 0o644):
    def add(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo("placeholder")
        info.filename = name  # past the constructor, which would fix it
        info.external_attr = mode << 16
        archive.writestr(info, data)

    return add


def twice(archive: zipfile.ZipFile) -> None:
    archive.filelist.append(copy.copy(archive.filelist[0]))


def overlapping(archive: zipfile.ZipFile) -> None:
    archive.writestr("kernel", bytes(100_000))
    shared = copy.copy(archive.filelist[-1])
    shared.filename = shared.orig_filename = "again"
    archive.filelist.append(shared)


def zeros(archive: zipfile.ZipFile) -> None:
    with archive.open("zeros", "w") as file:
        for _ in range(300):
            file.write(bytes(1 << 20))


def cut_off(bench: Bench):
    (path,) = bench.wheel()
    path.write_bytes(path.read_bytes()[:-30])
    return [path]


def bad_checksum(bench: Bench):
    path = bench.folder / "bad.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("text.txt", b"some plain text")
    path.write_bytes(path.read_bytes().replace(b"plain", b"PLAIN", 1))
    return [path]


def encrypted(bench: Bench):
    (path,) = honest(bench)
    data = bytearray(path.read_bytes())
    entry = data.rfind(b"PK\1\2")
    data[entry + 8] |= 1
    path.write_bytes(bytes(data))
    return [path]


def tar_with_link(bench: Bench):
    path = bench.folder / "latenn-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo("latenn-1.0/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return [path]


def tar_with_inner_link(bench: Bench):
    path = bench.folder / "latenn-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for kind, target in ((tarfile.SYMTYPE, "a.txt"), (tarfile.LNKTYPE, "latenn-1.0/a.txt")):
            link = tarfile.TarInfo(f"latenn-1.0/docs{kind.decode()}")
            link.type, link.linkname = kind, target
            archive.addfile(link)
    return [path]


def tar_with_climbing_link(bench: Bench):
    path = bench.folder / "latenn-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo("latenn-1.0/docs/link")
        link.type, link.linkname = tarfile.SYMTYPE, "../../other/x"
        archive.addfile(link)
    return [path]


def plain_tar(bench: Bench):
    path = bench.folder / "latenn-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("latenn-1.0/setup.py")
        info.size = 1
        archive.addfile(info, BytesIO(b"x"))
    return [path]


def without_tail(bench: Bench):
    data = bench.good()
    return bench.bare("liblatenn.so", data[: len(data) // 3])


def of(source: str, *flags: str):
    return lambda bench: bench.wheel({LIB: bench.compiler.shared(source, *flags).read_bytes()})


def assembled(text: str, *flags: str):
    def make(bench: Bench):
        thing = bench.compiler.thing(text, file="x.s")
        return bench.wheel({LIB: bench.compiler.linked(thing, *flags).read_bytes()})

    return make


CODE = '.section .note.GNU-stack,"",@progbits\n.text\n.globl latenn_f\n.type latenn_f,@function\nlatenn_f: ret\n'

CASES = [
    Case(code="LB601", what="a cut-off wheel", bad=cut_off, good=whole, at=".whl", says="not a readable zip"),
    Case(code="LB601", what="a wrong checksum", bad=bad_checksum, good=honest, at="!text.txt", says="CRC"),
    Case(code="LB601", what="an encrypted member", bad=encrypted, good=honest, at="!other.txt", says="encrypted"),
    Case(
        code="LB601",
        what="an sdist that is no tar",
        bad=lambda bench: bench.bare("latenn-1.0.tar.gz", b"not a tar"),
        good=plain_tar,
        at=".tar.gz",
        says="tar",
    ),
    Case(
        code="LB602",
        what="a name that climbs out",
        bad=hostile(member("../../up.txt")),
        good=honest,
        at="up.txt",
        says="not a plain relative path",
    ),
    Case(
        code="LB602",
        what="an absolute name",
        bad=hostile(member("/etc/cron.d/x")),
        good=honest,
        at="/etc/cron.d/x",
        says="not a plain relative path",
    ),
    Case(
        code="LB602",
        what="a backslash in a name",
        bad=hostile(member("a\\..\\b")),
        good=honest,
        at="b",
        says="not a plain relative path",
    ),
    Case(
        code="LB602",
        what="a symbolic link",
        bad=hostile(member("link", b"/etc/passwd", stat.S_IFLNK | 0o777)),
        good=honest,
        at="!link",
        says="link",
    ),
    Case(code="LB602", what="one name twice", bad=hostile(twice), good=honest, at="!good.txt", says="bomb"),
    Case(code="LB602", what="overlapping members", bad=hostile(overlapping), good=honest, at="!again", says="shares"),
    Case(code="LB602", what="a bomb", bad=hostile(zeros), good=honest, at="!zeros", says="bomb"),
    Case(
        code="LB602",
        what="a link in an sdist",
        bad=tar_with_link,
        good=plain_tar,
        at="!latenn-1.0/link",
        says="link",
    ),
    Case(
        code="LB602",
        what="a link in an sdist that climbs out; one that stays inside is allowed",
        bad=tar_with_climbing_link,
        good=tar_with_inner_link,
        at="!latenn-1.0/docs/link",
        says="a link to ../../other/x, outside",
    ),
    Case(
        code="LB603",
        what="names that differ by case alone",
        bad=hostile(member("GOOD.txt")),
        good=honest,
        at="!GOOD.txt",
        says="case",
    ),
    Case(
        code="LB603",
        what="a name that Windows reserves",
        bad=hostile(member("latenn/aux.h")),
        good=honest,
        at="!latenn/aux.h",
        says="aux.h",
        severity="warning",
    ),
    Case(
        code="LB604",
        what="a library that was cut off",
        bad=without_tail,
        good=lambda bench: bench.bare("liblatenn.so", bench.good()),
        at="liblatenn.so",
        says="7f454c46",
    ),
    Case(
        code="LB606",
        what="assembler without a stack note",
        bad=assembled(CODE, "-z", "execstack"),
        good=assembled(CODE),
        at=f"!{LIB}",
        says="RWE",
    ),
    Case(
        code="LB607",
        what="an address in code",
        bad=assembled(CODE + ".quad latenn_f\n", "-z", "notext"),
        good=assembled(CODE),
        at=f"!{LIB}",
        says="TEXTREL",
    ),
    Case(
        code="LB608",
        what="no RELRO",
        bad=of(GOOD, "-Wl,-z,norelro"),
        good=of(GOOD),
        at=f"!{LIB}",
        says="GNU_RELRO",
        severity="warning",
    ),
    Case(
        code="LB608",
        what="lazy binding",
        bad=of(GOOD, "-Wl,-z,lazy"),
        good=of(GOOD),
        at=f"!{LIB}",
        says="BIND_NOW",
        severity="note",
    ),
    Case(
        code="LB609",
        what="byte code",
        bad=lambda bench: bench.wheel({"latenn/__pycache__/a.cpython-311.pyc": b"x"}),
        good=whole,
        at="a.cpython-311.pyc",
        says="pyc",
        severity="warning",
    ),
    Case(
        code="LB610",
        what="__FILE__ of the build machine",
        bad=of('const char *latenn_f(void) { return "/home/ci/latenn/src/core.c"; }\n'),
        good=of('const char *latenn_f(void) { return "/tmp/%s.lock /tmp/latenn src/core.c http://x/home/ci/a"; }\n'),
        at=f"!{LIB}",
        says="/home/ci/latenn/src/core.c",
        severity="warning",
    ),
    Case(
        code="LB610",
        what="an example in a help text is no path of the build machine, the same path as a whole string is",
        bad=of('const char *latenn_f(void) { return "/home/user/models/model.onnx"; }\n'),
        good=of("const char *latenn_f(void) { return \"Examples: (1) '/home/user/models/model.onnx'\"; }\n"),
        at=f"!{LIB}",
        says="/home/user/models/model.onnx",
        severity="warning",
    ),
    Case(
        code="LB611",
        what="a file of environment secrets",
        bad=lambda bench: bench.wheel({"latenn/.env": b"TOKEN=x"}),
        good=lambda bench: bench.wheel({"latenn/.env.example": b"TOKEN="}),
        at="!latenn/.env",
        says=".env",
    ),
    Case(
        code="LB611",
        what="a private key under a harmless name",
        bad=lambda bench: bench.wheel({"latenn/notes.txt": KEY}),
        good=lambda bench: bench.wheel({"latenn/ca.pem": b"-----BEGIN CERTIFICATE-----\n"}),
        at="!latenn/notes.txt",
        says="PRIVATE KEY",
    ),
    Case(
        code="LB612",
        what="debug information",
        bad=lambda bench: bench.wheel({LIB: debug(bench)}),
        good=whole,
        at=f"!{LIB}",
        says=".debug_info",
        severity="note",
    ),
    Case(
        code="LB612",
        what="debug information in a package of the project itself",
        bad=lambda bench: bench.wheel({LIB: debug(bench)}),
        good=whole,
        at=f"!{LIB}",
        says=".debug_info",
        severity="warning",
        policy=Policy(exports={"latenn": ("latenn_*",)}),
    ),
]


def debug(bench: Bench) -> bytes:
    thing = bench.compiler.thing("int latenn_f(void) { return 1; }\n", "-g")
    return bench.compiler.linked(thing).read_bytes()
