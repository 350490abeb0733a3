"""Makes bad and good packages with real tools: compiles small C sources, packs wheels and nupkgs."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import json
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

GLIBC = "x86_64-linux-gnu.2.28"
TAG = "py3-none-manylinux_2_28_x86_64"
MAC_ARM, MAC_INTEL = "aarch64-macos.11.0", "x86_64-macos.11.0"
WINDOWS, WINDOWS_ARM = "x86_64-windows-gnu", "aarch64-windows-gnu"
MAC_TAG, WINDOWS_TAG = "py3-none-macosx_11_0_arm64", "py3-none-win_amd64"

GOOD = "#include <unistd.h>\nint latenn_version(void) { return getpid() > 0; }\n"
RUNTIME = "const void *OrtGetApiBase(void) { static int base; return &base; }\n"
USER = "extern const void *OrtGetApiBase(void);\nconst void *latenn_bind(void) { return OrtGetApiBase(); }\n"
GOOD_DLL = "int latenn_version(void) { return 1; }\n"
VERSIONED = "VERS_1.19.2 { global: *; };\n"


def toolchain() -> list[str]:
    """The command that starts zig's tools. Skips the test where zig is missing."""
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang"]
    zig = shutil.which("zig")
    if zig is None:
        pytest.skip("not run: there is no zig here: pip install ziglang")
    return [zig]


@dataclass(frozen=True)
class Compiler:
    """Compiles each source once per folder; several processes may share the folder."""

    folder: Path

    def library(self, source: str, *flags: str | Path, target: str = GLIBC, name: str = "libx.so") -> Path:
        """A stripped shared library made of a C source."""
        return self._make(source, "x.c", ["-shared", "-fPIC", "-O2", "-s", *flags], target, name)

    def program(self, source: str, *flags: str | Path, target: str = GLIBC) -> Path:
        """A program made of a C source."""
        return self._make(source, "x.c", ["-O2", *flags], target, "program")

    def thing(self, source: str, *flags: str | Path, file: str = "x.c", target: str = GLIBC) -> Path:
        """An object file."""
        return self._make(source, file, ["-c", "-fPIC", "-O2", *flags], target, "x.o")

    def link_object(self, thing: Path, *flags: str) -> Path:
        """A shared library made of an object file by lld itself, for flags that the zig driver does not pass on."""
        key = hashlib.sha256(repr((thing.as_posix(), flags)).encode()).hexdigest()[:16]
        return self._run(self.folder / key / "libx.so", ["ld.lld", "-shared", *flags, str(thing)])

    def dylib(self, source: str, *flags: str | Path, target: str = MAC_ARM, name: str = "libx.dylib") -> Path:
        """A macOS library. Its install name is @rpath/NAME, unless flags say otherwise."""
        install_name = (
            () if any("install_name" in str(flag) for flag in flags) else (f"-Wl,-install_name,@rpath/{name}",)
        )
        return self._make(source, "x.c", ["-shared", "-O2", "-s", *install_name, *flags], target, name)

    def dll(
        self,
        source: str,
        *flags: str | Path,
        exports: Sequence[str] = ("latenn_version",),
        target: str = WINDOWS,
        name: str = "x.dll",
        compile_flags: Sequence[str] = (),
        file: str = "x.c",
    ) -> Path:
        """A Windows library without any C run-time: lld-link makes it, with its import library next to it."""
        thing = self.thing(source, "-fno-stack-protector", *compile_flags, target=target, file=file)
        command = ["lld-link", "-dll", "-noentry", "-nodefaultlib", *(f"-export:{export}" for export in exports)]
        key = hashlib.sha256(repr((thing.as_posix(), name, exports, [str(flag) for flag in flags])).encode())
        path = self.folder / key.hexdigest()[:16] / name
        library = path.with_suffix(".lib")
        output_flags = (f"-implib:{library.name}", f"-pdbaltpath:{path.stem}.pdb")
        return self._run(path, [*command, *output_flags, str(thing), *map(str, flags)], output=f"-out:{name}")

    def import_library(self, dll: Path) -> Path:
        """What lld-link wrote next to a DLL for those who link against it."""
        return dll.with_suffix(".lib")

    def text(self, text: str) -> Path:
        """A file with that text, such as a version script."""
        path = self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.txt"
        if not path.exists():
            aside = path.with_name(f"{path.name}.{os.getpid()}")
            aside.write_text(text)
            aside.replace(path)
        return path

    def _make(self, source: str, file: str, flags: Sequence[str | Path], target: str, name: str) -> Path:
        key = hashlib.sha256(repr((source, file, [str(flag) for flag in flags], target, name)).encode()).hexdigest()
        path = self.folder / key[:16] / name
        if path.exists():
            return path
        path.parent.mkdir(exist_ok=True)
        code = path.with_name(file)
        code.write_text(source)
        return self._run(path, ["cc", "-target", target, file, *map(str, flags)])

    def _run(self, path: Path, command: Sequence[str], output: str = "") -> Path:
        if path.exists():
            return path
        path.parent.mkdir(exist_ok=True)
        if output:  # other files have its name, so it is made in a folder of its own
            return self._run_aside(path, [*command, output])
        aside = path.with_name(f"{os.getpid()}.{path.name}")
        # Only names go to the compiler, so that no path of this machine ends in the output.
        subprocess.run([*toolchain(), *command, "-o", aside.name], check=True, cwd=path.parent)
        aside.replace(path)
        return path

    @staticmethod
    def _run_aside(path: Path, command: Sequence[str]) -> Path:
        aside = path.parent / str(os.getpid())
        aside.mkdir(exist_ok=True)
        subprocess.run([*toolchain(), *command], check=True, cwd=aside)
        for output in sorted(aside.iterdir(), key=lambda file: file.name == path.name):
            output.replace(path.parent / output.name)
        aside.rmdir()
        return path


@dataclass(frozen=True)
class Bench:
    """Where one test makes its packages."""

    compiler: Compiler
    folder: Path

    def good(self, target: str = GLIBC, soname: str = "liblatenn.so") -> bytes:
        """A library that no check objects to."""
        return self.compiler.library(GOOD, f"-Wl,-soname,{soname}", target=target).read_bytes()

    def runtime(self, soname: str = "libonnxruntime.so.1", name: str = "libonnxruntime.so.1") -> Path:
        """A stand-in runtime: its SONAME, its symbol version, its entry symbol."""
        script = self.compiler.text(VERSIONED)
        flags = (f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}")
        return self.compiler.library(RUNTIME, *flags, name=name)

    def linked_library(self) -> bytes:
        """A library that was linked against the stand-in runtime."""
        return self.compiler.library(USER, self.runtime(), "-Wl,-soname,liblatenn.so").read_bytes()

    def dylib(self, target: str = MAC_ARM, *flags: str) -> bytes:
        """A macOS library that no check objects to."""
        return self.compiler.dylib(GOOD, *flags, target=target, name="liblatenn.dylib").read_bytes()

    def dll(self, target: str = WINDOWS) -> bytes:
        """A Windows library that no check objects to."""
        return self.compiler.dll(GOOD_DLL, target=target, name="latenn.dll").read_bytes()

    def mac_runtime(self, name: str = "libonnxruntime.1.dylib", *flags: str) -> Path:
        """A stand-in runtime for macOS."""
        return self.compiler.dylib(RUNTIME, *flags, name=name)

    def windows_runtime(self, name: str = "onnxruntime.dll") -> Path:
        """A stand-in runtime for Windows."""
        return self.compiler.dll(RUNTIME, exports=["OrtGetApiBase"], name=name)

    def mac(self, data: bytes, tag: str = MAC_TAG) -> list[Path]:
        """A macOS wheel that holds the library."""
        return self.wheel({"latenn/liblatenn.dylib": data}, tag=tag)

    def windows(self, data: bytes, tag: str = WINDOWS_TAG) -> list[Path]:
        """A Windows wheel that holds the library."""
        return self.wheel({"latenn/latenn.dll": data}, tag=tag)

    def bare(self, name: str, data: bytes) -> list[Path]:
        """A file outside of packages."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return [path]

    def wheel(
        self,
        files: Mapping[str, bytes] | None = None,
        **how: object,
    ) -> list[Path]:
        """A wheel in this bench's folder; see `wheel()`."""
        return [wheel(self.folder, files if files is not None else {"latenn/liblatenn.so": self.good()}, **how)]  # type: ignore[arg-type]

    def nupkg(self, files: Mapping[str, bytes] | None = None, **how: object) -> list[Path]:
        """A nupkg in this bench's folder; see `nupkg()`."""
        native = {"runtimes/linux-x64/native/liblatenn.so": self.good()}
        return [nupkg(self.folder, files if files is not None else native, **how)]  # type: ignore[arg-type]

    def npm(self, files: Mapping[str, bytes] | None = None, **how: object) -> list[Path]:
        """An npm package in this bench's folder; see `npm()`."""
        return [npm(self.folder, files if files is not None else {"libtiny.so": self.good()}, **how)]  # type: ignore[arg-type]


Rows = list[tuple[str, str, str]]
DESCRIBED = (
    "Summary: s\nAuthor: a\nProject-URL: Source, https://acme.org\nClassifier: License :: OSI Approved :: MIT License\n"
    "Description: d\n"
)
"""The fields of METADATA that the page of a package shows."""
PAGE = "<readme>README.md</readme><projectUrl>https://acme.org</projectUrl>"
"""The same of a nuspec."""


def wheel(  # each argument is one thing that a test breaks
    folder: Path,
    files: Mapping[str, bytes],
    *,
    name: str = "latenn",
    version: str = "1.0",
    tag: str = TAG,
    file_name: str = "",
    said_tag: str = "",
    purelib: bool = False,
    metadata: str = "",
    described: str = DESCRIBED,
    metadata_version: str = "2.4",
    said_version: str = "",
    license_file: bool = True,
    record: Callable[[Rows], Rows] = lambda entries: entries,
    drop: Sequence[str] = (),
    drop_code: bool = False,
    after: Mapping[str, bytes] | None = None,
) -> Path:
    """Write a wheel. `record` changes RECORD's rows, `drop` leaves members out, `after` adds some behind its back."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    members = {**({} if drop_code else {"latenn/__init__.py": b""}), **files}
    members[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: tests\n"
        f"Root-Is-Purelib: {'true' if purelib else 'false'}\nTag: {said_tag or tag}\n"
    ).encode()
    members[f"{info}/METADATA"] = (
        f"Metadata-Version: {metadata_version}\nName: {name}\nVersion: {said_version or version}\n"
        f"{described}{metadata}\n"
    ).encode()
    if license_file:
        members[f"{info}/licenses/LICENSE"] = b"MIT"
    entries = [(path, f"sha256={digest(data)}", str(len(data))) for path, data in members.items()]
    entries.append((f"{info}/RECORD", "", ""))
    members[f"{info}/RECORD"] = "".join(f"{','.join(entry)}\n" for entry in record(entries)).encode()
    members.update(after or {})
    path = folder / (file_name or f"{name.replace('-', '_')}-{version}-{tag}.whl")
    return write(path, {inner: data for inner, data in members.items() if inner.rpartition("/")[2] not in drop})


def digest(data: bytes) -> str:
    """The hash as RECORD writes it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def nuspec(package_id: str, version: str, extra: str, page: str = "") -> str:
    """A complete nuspec."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd"><metadata>'
        f"<id>{package_id}</id><version>{version}</version><authors>a</authors><description>d</description>"
        f'<license type="expression">MIT</license>{page}{extra}</metadata></package>'
    )


def nupkg(  # each argument is one thing that a test breaks
    folder: Path,
    files: Mapping[str, bytes],
    *,
    package_id: str = "Latenn",
    version: str = "1.0.0",
    extra: str = "",
    spec: str = "",
    spec_name: str = "",
    types: Sequence[str] = ("rels", "psmdcp", "nuspec", "md", "so", "dll", "dylib", "txt", "1", "2"),
    drop: Sequence[str] = (),
    file_name: str = "",
) -> Path:
    """Write a nupkg with all its OPC parts."""
    spec_name = spec_name or f"{package_id}.nuspec"
    is_described = not spec and "<readme>" not in extra and not file_name.endswith(".snupkg")
    defaults = "".join(f'<Default Extension="{extension}" ContentType="application/octet"/>' for extension in types)
    core = "package/services/metadata/core-properties/0.psmdcp"
    relation = "http://schemas.microsoft.com/packaging/2010/07/manifest"
    members = {
        "_rels/.rels": (
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Type="{relation}" Target="/{spec_name}" Id="R0"/>'
            f'<Relationship Type="core-properties" Target="/{core}" Id="R1"/></Relationships>'
        ).encode(),
        "[Content_Types].xml": (
            f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{defaults}</Types>'
        ).encode(),
        core: b"<coreProperties/>",
        **({"README.md": b"x"} if is_described else {}),
        spec_name: (spec or nuspec(package_id, version, extra, PAGE if is_described else "")).encode(),
        **files,
    }
    path = folder / (file_name or f"{package_id}.{version}.nupkg")
    return write(path, {inner: data for inner, data in members.items() if inner not in drop})


def write(path: Path, members: Mapping[str, bytes]) -> Path:
    """A zip of the members."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def universal(*slices: bytes) -> bytes:
    """A universal Mach-O file of thin ones, as `lipo -create` writes it."""
    offset, headers, body = 1 << 14, [], b""
    for part in slices:
        cpu, subtype = struct.unpack_from("<II", part, 4)
        headers.append(struct.pack(">IIIII", cpu, subtype, offset, len(part), 14))
        body += part + bytes(-len(part) % (1 << 14))
        offset = (1 << 14) + len(body)
    head = struct.pack(">II", 0xCAFEBABE, len(headers)) + b"".join(headers)
    return head + bytes((1 << 14) - len(head)) + body


def commands(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Place, number and size of each load command of a thin Mach-O file."""
    offset = 32
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        kind, size = struct.unpack_from("<II", data, offset)
        yield offset, kind, size
        offset += size


def change_load_command(data: bytes, library: str, command: int) -> bytes:
    """A thin Mach-O file in which that library is loaded by another command, as ld's -weak and -reexport flags do.

    The commands differ by their number alone; zig's linker has no such flags.
    """
    out = bytearray(data)
    for offset, kind, size in commands(data):
        if kind == 0xC and library.encode() in data[offset : offset + size]:
            struct.pack_into("<I", out, offset, command)
    return bytes(out)


def passed_on(data: bytes, name: str) -> bytes:
    """A thin Mach-O file that passes an export on from its first library, as ld does with -reexported_symbols_list.

    Linkers at hand have no such flag; in the export trie two numbers differ: flags and ordinal for flags and address.
    """
    out = bytearray(data)
    where = {0x22: 40, 0x80000022: 40, 0x80000033: 8}  # LC_DYLD_INFO(_ONLY), LC_DYLD_EXPORTS_TRIE
    (trie,) = (
        struct.unpack_from("<I", data, offset + where[kind])[0] for offset, kind, _ in commands(data) if kind in where
    )
    end = f"{name[-4:]}\0".encode()  # names share their beginnings
    edge = data.index(end, trie) + len(end)
    assert data[edge] < 0x80  # the child's place is a number of one byte
    node = trie + data[edge]
    assert data[node] >= 3  # room for flags, ordinal, and the end of an empty name
    out[node + 1 : node + 4] = b"\x08\x01\0"
    return bytes(out)


def pe(*, managed: bool) -> bytes:
    """The headers of a PE32+ file. No compiler for .NET is at hand in every test run, and only they are read."""
    head = bytearray(512)
    head[0:2] = b"MZ"
    head[60:64] = (64).to_bytes(4, "little")
    head[64:68] = b"PE\0\0"
    head[68:70] = (0x8664).to_bytes(2, "little")
    head[88:90] = (0x20B).to_bytes(2, "little")
    head[64 + 24 + 108 : 64 + 24 + 112] = (16).to_bytes(4, "little")
    if managed:
        at = 64 + 24 + 112 + 14 * 8
        head[at : at + 8] = b"\x08\x20\0\0\x48\0\0\0"
    return bytes(head)


def npm(  # each argument is one thing that a test breaks
    folder: Path,
    files: Mapping[str, bytes],
    *,
    name: str = "@acme/tiny-linux-x64",
    file_name: str = "",
    text: bytes = b"",
    links: Sequence[str] = (),
    mode: int = 0o644,
    **fields: object,
) -> Path:
    """Write an npm package for linux-x64; `fields` are added to package.json, None leaves one out."""
    all_fields = {"name": name, "version": "1.2.3", "os": ["linux"], "cpu": ["x64"], "libc": ["glibc"], **fields}
    manifest = {key: value for key, value in all_fields.items() if value is not None}
    path = folder / (file_name or f"{name.removeprefix('@').replace('/', '-')}-{all_fields['version']}.tgz")
    members = {"package.json": text or json.dumps(manifest).encode(), **files}
    with tarfile.open(path, "w:gz") as archive:
        for inner, data in members.items():
            member = tarfile.TarInfo(f"package/{inner}")
            member.size, member.mode = len(data), mode
            archive.addfile(member, io.BytesIO(data))
        for inner in links:
            member = tarfile.TarInfo(f"package/{inner}")
            member.type, member.linkname = tarfile.SYMTYPE, "libtiny.so"
            archive.addfile(member)
    return path
