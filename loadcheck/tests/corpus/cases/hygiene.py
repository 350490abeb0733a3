"""Bad subjects for LB6xx, hostile archives among them."""

from __future__ import annotations

import copy
import stat
import struct
import tarfile
import zipfile
from typing import TYPE_CHECKING

from corpus.cases.case import Case, bare, contents, good, made_by, nupkg, shared, wheel
from corpus.packages import GLIBC, write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from corpus.packages import Bench

LIB = "latenn/liblatenn.so"
AAR, LIB_IN_AAR = "runtimes/android/native/latenn.aar", "jni/arm64-v8a/liblatenn.so"
JAVA_CLASS = bytes.fromhex("cafebabe 00000034 0010 0a") + bytes(100)
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


def ended(change):
    """A zip whose last record was changed."""

    def make(bench: Bench) -> list[Path]:
        (path,) = honest(bench)
        data = bytearray(path.read_bytes())
        change(data, data.rfind(b"PK\5\6"))
        path.write_bytes(data)
        return [path]

    return make


def say_one(data: bytearray, end: int) -> None:
    data[end + 8 : end + 12] = b"\1\0\1\0"


def comment(data: bytearray, end: int) -> None:
    data[end + 20 : end + 22] = b"\2\0"
    data += b"hi"


def many_slices(count: int) -> bytes:
    """A universal Mach-O file of damaged slices."""
    head = struct.pack(">II", 0xCAFEBABE, count)
    places = (struct.pack(">5I", 0x01000007, 3, 4096 + 32 * index, 32, 0) for index in range(count))
    return head + b"".join(places) + bytes(4096 + 32 * count)


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


def encrypt_member(bench: Bench):
    (path,) = honest(bench)
    data = bytearray(path.read_bytes())
    entry = data.rfind(b"PK\1\2")
    data[entry + 8] |= 1
    path.write_bytes(bytes(data))
    return [path]


@made_by
def tar(bench: Bench, members: Mapping[str, tuple[bytes, str]]):
    """An sdist. Each member has a kind, and a link leads somewhere."""
    path = bench.folder / "latenn-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, (kind, target) in members.items():
            member = tarfile.TarInfo(f"latenn-1.0/{name}")
            member.type, member.linkname = kind, target
            archive.addfile(member)
    return [path]


PLAIN = tar({"setup.py": (tarfile.REGTYPE, "")})
ABSOLUTE = tar({"link": (tarfile.SYMTYPE, "/etc/passwd")})
CLIMBING = tar({"docs/link": (tarfile.SYMTYPE, "../../other/x")})
INSIDE = tar({"docs2": (tarfile.SYMTYPE, "a.txt"), "docs1": (tarfile.LNKTYPE, "latenn-1.0/a.txt")})


def without_tail(bench: Bench):
    data = bench.good()
    return bench.bare("liblatenn.so", data[: len(data) // 3])


def of(source: str, *flags: str):
    return wheel({LIB: contents(shared(source, *flags))})


def assemble_wheel(text: str, *flags: str):
    def make(bench: Bench):
        thing = bench.compiler.thing(text, file="x.s")
        return bench.wheel({LIB: bench.compiler.link_object(thing, *flags).read_bytes()})

    return make


@made_by
def before(bench: Bench, data: bytes):
    (path,) = bench.wheel()
    path.write_bytes(data + path.read_bytes())
    return [path]


def shift_last_segment(bench: Bench) -> bytes:
    """A library whose last loaded segment has an address 8 bytes off."""
    data = bytearray(bench.good())
    table, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    offsets = [offset for offset in range(table, table + 56 * count, 56) if data[offset : offset + 4] == b"\1\0\0\0"]
    (address,) = struct.unpack_from("<Q", data, offsets[-1] + 16)
    struct.pack_into("<Q", data, offsets[-1] + 16, address + 8)
    return bytes(data)


@made_by
def android(bench: Bench, page: int, target: str = "aarch64-linux") -> bytes:
    flags = ("-nostdlib", f"-Wl,-z,max-page-size={page}")
    return bench.compiler.library("int latenn_f(void) { return 1; }\n", *flags, target=target).read_bytes()


MODULE = "latenn/_core.cpython-311-x86_64-linux-gnu.so"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4665a5\nsize 132735\n"


def convert(data: bytes) -> bytes:
    """What a conversion to text makes of a DLL, whose first program for DOS is not text."""
    return data.decode("utf-8", "replace").encode()


def npm_addon(change):
    return lambda bench: bench.npm({"tiny.node": change(bench.dll())}, os=["win32"], cpu=["x64"])


@made_by
def android_npm(bench: Bench, folder: str, page: int, target: str = "aarch64-linux"):
    """A package for all platforms, with a library in a folder of one."""
    fields = {"name": "@acme/tiny", "os": None, "cpu": None, "libc": None}
    return bench.npm({f"{folder}/liblatenn.so": android(page, target)(bench)}, **fields)


@made_by
def android_wheel(bench: Bench, page: int):
    return bench.wheel({LIB: android(page)(bench)}, tag="cp313-cp313-android_24_arm64_v8a")


@made_by
def android_nupkg(bench: Bench, page: int):
    return bench.nupkg({"runtimes/android-arm64/native/liblatenn.so": android(page)(bench)})


@made_by
def aar(bench: Bench, page: int) -> bytes:
    return write(bench.folder / "x.aar", {LIB_IN_AAR: android(page)(bench)}).read_bytes()


@made_by
def program(bench: Bench, flags: int, *options: str, target: str = GLIBC):
    """A program whose stack has these flags: 7 with PF_X."""
    data = bench.compiler.program("int main(void) { return 0; }\n", *options, target=target).read_bytes()
    stack = (0x6474E551).to_bytes(4, "little")
    assert data.count(stack + b"\6\0\0\0") == 1
    return bench.bare("latenn", data.replace(stack + b"\6\0\0\0", stack + bytes([flags, 0, 0, 0])))


def debug(bench: Bench) -> bytes:
    thing = bench.compiler.thing("int latenn_f(void) { return 1; }\n", "-g")
    return bench.compiler.link_object(thing).read_bytes()


CODE = '.section .note.GNU-stack,"",@progbits\n.text\n.globl latenn_f\n.type latenn_f,@function\nlatenn_f: ret\n'

CASES = [
    Case("LB601", "a cut-off wheel", cut_off, whole, at=".whl", says="not a readable zip"),
    Case("LB601", "a wrong checksum", bad_checksum, honest, at="!text.txt", says="CRC"),
    Case("LB601", "an encrypted member", encrypt_member, honest, at="!other.txt", says="encrypted"),
    Case("LB601", "an sdist that is no tar", bare("latenn-1.0.tar.gz", b"not a tar"), PLAIN, at=".tar.gz",
         says="tar"),
    Case("LB602", "a name that climbs out", hostile(member("../../up.txt")), honest, at="up.txt",
         says="not a plain relative path"),
    Case("LB602", "an absolute name", hostile(member("/etc/cron.d/x")), honest, at="/etc/cron.d/x",
         says="not a plain relative path"),
    Case("LB602", "a backslash in a name", hostile(member("a\\..\\b")), honest, at="b",
         says="not a plain relative path"),
    Case("LB602", "a symbolic link", hostile(member("link", b"/etc/passwd", stat.S_IFLNK | 0o777)), honest, at="!link",
         says="link"),
    Case("LB602", "one name twice", hostile(twice), honest, at="!good.txt", says="bomb"),
    Case("LB602", "overlapping members", hostile(overlapping), honest, at="!again", says="shares"),
    Case("LB602", "a bomb", hostile(zeros), honest, at="!zeros", says="bomb"),
    Case("LB602", "a link in an sdist", ABSOLUTE, PLAIN, at="!latenn-1.0/link", says="link"),
    Case("LB602", "a link in an sdist that climbs out; one that stays inside is allowed", CLIMBING,
         INSIDE, at="!latenn-1.0/docs/link", says="a link to ../../other/x, outside"),
    Case("LB602", "data after the archive; a comment is none", ended(lambda data, _: data.extend(b"#")), ended(comment),
         at=".zip", says="1 byte follow"),
    Case("LB602", "a last record that hides members", ended(say_one), honest, at=".zip",
         says="says 1 member, but the directory has 2"),
    Case("LB604", "a universal file of more slices than the number of Java's first version",
         wheel({"latenn/libx.dylib": many_slices(50)}), wheel({"latenn/A.class": JAVA_CLASS}), at="libx.dylib",
         says="cannot be read as macho"),
    Case("LB602", "data before the archive", before(b"#!/bin/sh\n"), before(b""), at=".whl",
         says="precede the archive's first member"),
    Case("LB603", "names that differ by case alone", hostile(member("GOOD.txt")), honest, at="!GOOD.txt", says="case",
         severity="warning"),
    Case("LB603", "a name that Windows reserves", hostile(member("latenn/aux.h")), honest, at="!latenn/aux.h",
         says="aux.h", severity="warning"),
    Case("LB603", "a name that Windows reserves; in a JAR, which nobody unpacks", hostile(member("acme/aux.class")),
         hostile(member("acme/aux.class"), "acme-1.0.jar"), at="!acme/aux.class", says="aux.class", severity="warning"),
    Case("LB603", "a name that only Windows refuses", wheel({"latenn/a*b.txt": b"x"}, tag="py3-none-any"),
         wheel({"latenn/ab.txt": b"x"}), at="!latenn/a*b.txt", says="not a valid file name on Windows",
         severity="warning"),
    Case("LB603", "a name that only Windows refuses, in a wheel for macOS",
         wheel({"latenn/a*b.txt": b"x"}, tag="py3-none-macosx_11_0_arm64"), wheel({"latenn/ab.txt": b"x"}),
         at="!latenn/a*b.txt", says="not a valid file name on Windows", severity="note"),
    Case("LB603", "a name that only Windows refuses, in a wheel for Android",
         wheel({"latenn/a*b.txt": b"x"}, tag="cp313-cp313-android_24_arm64_v8a"), wheel({"latenn/ab.txt": b"x"}),
         at="!latenn/a*b.txt", says="not a valid file name on Windows", severity="note"),
    Case("LB603", "a name that only Windows refuses, in a wheel of MSYS2",
         wheel({"latenn/a*b.txt": b"x"}, tag="cp312-cp312-mingw_x86_64_ucrt_gnu"), wheel({"latenn/ab.txt": b"x"}),
         at="!latenn/a*b.txt", says="not a valid file name on Windows", severity="warning"),
    Case("LB604", "a library that was cut off", without_tail, bare("liblatenn.so", good()), at="liblatenn.so",
         says="7f454c46"),
    Case("LB604", "a segment that cannot be mapped", bare("liblatenn.so", shift_last_segment),
         bare("liblatenn.so", good()), at="liblatenn.so", says="misaligned"),
    Case("LB606", "assembler without a stack note", assemble_wheel(CODE, "-z", "execstack"), assemble_wheel(CODE),
         at=f"!{LIB}", says="RWE"),
    Case("LB607", "an address in code", assemble_wheel(CODE + ".quad latenn_f\n", "-z", "notext"), assemble_wheel(CODE),
         at=f"!{LIB}", says="TEXTREL", severity="note"),
    Case("LB609", "byte code", wheel({"latenn/__pycache__/a.cpython-311.pyc": b"x"}), whole, at="a.cpython-311.pyc",
         says="pyc", severity="note"),
    *(Case("LB611", f"a file of environment secrets, and {name}", wheel({"latenn/.env": b"TOKEN=x"}),
           wheel({f"latenn/{name}": b"TOKEN=x"}), at="!latenn/.env", says=".env")
      for name in (".env.example", ".env.sample", ".env.template")),
    *(Case("LB611", f"a file with the name {name}", wheel({f"latenn/{name}": b"x"}),
           wheel({f"latenn/{name}.txt": b"x"}), at=f"!latenn/{name}", says=name)
      for name in ("id_rsa", "id_ed25519", ".netrc", ".pypirc", ".git-credentials")),
    Case("LB611", "a file of settings, none of which looks like a secret",
         wheel({"latenn/.env": b"HOST=localhost\nexport PORT='8080'\nURL=http://localhost:80/\n"}), whole,
         at="!latenn/.env", says=".env", severity="warning"),
    Case("LB611", "a password in a URL", wheel({"latenn/.env": b"URL=https://me:secret@host/\n"}),
         wheel({"latenn/.env": b""}), at="!latenn/.env", says=".env"),
    Case("LB611", "a token of npm, and the name of a variable that has it",
         wheel({"latenn/.npmrc": b"//:_authToken=x"}),
         wheel({"latenn/.npmrc": b"registry=https://acme.org/\n//acme.org/:_authToken=${NPM_TOKEN}\n"}),
         at="!latenn/.npmrc", says=".npmrc"),
    Case("LB611", "the private key of a strong name, and a public one",
         wheel({"latenn/sign.snk": b"\x07\x02\0\0\0\x24\0\0RSA2\0\x04\0\0"}),
         wheel({"latenn/sign.snk": b"\0\x24\0\0\x04\x80\0\0\x94\0\0\0\x06\x02\0\0\0\x24\0\0RSA1"}),
         at="!latenn/sign.snk", says="contains a private key", severity="warning"),
    Case("LB611", "a Java key store with a private key, and one with a certificate",
         *(wheel({"latenn/trust.jks": b"\xfe\xed\xfe\xed\0\0\0\2\0\0\0\1\0\0\0" + kind}) for kind in (b"\1", b"\2")),
         at="!latenn/trust.jks", says="contains a private key", severity="warning"),
    Case("LB611", "a private key under a harmless name", wheel({"latenn/notes.txt": KEY}),
         wheel({"latenn/ca.pem": b"-----BEGIN CERTIFICATE-----\n"}), at="!latenn/notes.txt", says="PRIVATE KEY"),
    Case("LB611", "a private key of the tests", wheel({"latenn/tests/server.key": KEY}), whole,
         at="!latenn/tests/server.key", says="PRIVATE KEY", severity="note"),
    Case("LB604", "a damaged library of the tests",
         lambda bench: bench.wheel({"latenn/tests/cut.so": bench.good()[: len(bench.good()) // 3]}),
         wheel({"latenn/tests/cut.so": good()}), at="!latenn/tests/cut.so", says="7f454c46", severity="note"),
    Case("LB604", "an add-on of Node.js that was converted to text", npm_addon(convert), npm_addon(bytes),
         at="!package/tiny.node", says="no ELF, Mach-O or PE file"),
    Case("LB604", "a pointer of Git LFS in the place of a module", wheel({MODULE: LFS}), wheel({MODULE: good()}),
         at=f"!{MODULE}", says="no ELF, Mach-O or PE file"),
    Case("LB604", "text in the place of a module for Windows", wheel({"latenn/_core.pyd": b"import sys"}),
         wheel({"latenn/_core.txt": b"import sys"}), at="!latenn/_core.pyd", says="no ELF, Mach-O or PE file"),
    Case("LB604", "an empty module of Python", wheel({"latenn/_core.cpython-311-x86_64-linux-gnu.so": b""}),
         wheel({"latenn/_core.so": b""}), at="!latenn/_core.cpython-311-x86_64-linux-gnu.so",
         says="Python cannot import"),
    *(Case("LB606", f"a program with an executable stack still starts ({option})", program(7, option),
           program(6, option), at="latenn", says="RWE", severity="warning") for option in ("-pie", "-no-pie")),
    Case("LB606", "a program with an executable stack still starts without a loader",
         program(7, "-static", target="x86_64-linux-musl"), program(6, "-static", target="x86_64-linux-musl"),
         at="latenn", says="RWE", severity="warning"),
    *(Case("LB117", f"pages of 4 KB for Android in a {what}", make(4096), make(16384), at="liblatenn.so",
           says="aligned to 4096 bytes", severity="warning")
      for what, make in (("wheel", android_wheel), ("nupkg", android_nupkg))),
    *(Case("LB117", f"pages of 4 KB for Android in {folder}", android_npm(folder, 4096), android_npm(folder, 16384),
           at="liblatenn.so", says="aligned to 4096 bytes, but Android needs 16384", severity="warning")
      for folder in ("jni/arm64-v8a", "android/libs/arm64-v8a", "src/main/jniLibs/arm64-v8a",
                     "prefab/modules/tiny/libs/android.arm64-v8a")),
    *(Case("LB117", f"pages of 4 KB for x86_64 in {folder}, and in {other}",
           android_npm(folder, 4096, "x86_64-linux"), android_npm(other, 4096, "x86_64-linux"),
           at="liblatenn.so", says="but Android needs 16384", severity="warning")
      for folder, other in (("jni/x86_64", "lib/x86_64"), ("jniLibs/x86_64", "x86_64"),
                            ("android/x86_64", "jni/linux/x86_64"),
                            ("prefab/modules/tiny/libs/android.x86_64", "libs/linux.x86_64"))),
    *(Case("LB117", f"pages of 4 KB in {folder}, for which there is no other size",
           android_npm("jni/arm64-v8a", 4096), android_npm(folder, 4096, target), at="liblatenn.so",
           says="but Android needs 16384", severity="warning")
      for folder, target in (("jni/armeabi-v7a", "arm-linux-musleabihf"), ("armeabi", "arm-linux-musleabihf"),
                             ("jniLibs/x86", "x86-linux"))),
    Case("LB612", "debug information", wheel({LIB: debug}), whole, at=f"!{LIB}", says=".debug_info", severity="note"),
    Case("LB117", "pages of 4 KB in an AAR in a nupkg", nupkg({AAR: aar(4096)}), nupkg({AAR: aar(16384)}),
         at=f"!{AAR}/{LIB_IN_AAR}", says="aligned to 4096 bytes", severity="warning"),
]  # fmt: skip
