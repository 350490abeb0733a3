"""Checks LB115-LB118, LB606 and LB607: what a library asks for that some systems refuse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.checks.tags import lowest_tag, unjudged_platform
from loadcheck.engine.check import INSTALLED, Hit, Hits, check
from loadcheck.engine.kinds import promised_rid
from loadcheck.readers.places import android_abi, is_for_android

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, File

_SURPLUS = 1664
"""The bytes that glibc keeps free for libraries that are loaded later (TLS_STATIC_SURPLUS; the tunables of 2.33)."""
_LARGEST_PAGES = {"aarch64": 65536, "ppc64le": 65536}
"""The pages that kernels for these processors may have: Red Hat's had 64 KB."""
_SMALL = 4096
_ANDROID_PAGE = 16384
_ANDROID_TAG = re.compile(r"android_\d+_(arm64_v8a|x86_64)")
_ANDROID_RIDS = ("android-arm64", "android-x64")
_LARGE_ON_ANDROID = ("aarch64", "x86_64")
"""The processors for which Android may have such pages (developer.android.com, "Support 16 KB page sizes")."""
_FOR_ANDROID = "Link with -Wl,-z,max-page-size=16384, or use NDK r28 or newer, which aligns to 16 KB by default."
_LENIENT = (2, 35)
"""The first glibc that compares addresses by the size of pages, and not by the alignment of the segment."""


@check(
    "LB115",
    "Thread-local storage that a running program has no room for",
    "warning",
    because="The loader refuses to load the library into a running program. Programs that link it still start.",
    formats=("elf",),
    example="libspeech.so: DF_STATIC_TLS, and a TLS segment of 2,700 bytes",
    fix="Compile without -ftls-model=initial-exec (jemalloc: --disable-initial-exec-tls).",
)
def static_tls(package: Contents, file: File, image: Image) -> Hits:
    """Code for the initial-exec model needs its variables in the block that each thread got when it started.

    glibc reserves 1664 bytes in this block for libraries that are loaded later; the error is `cannot allocate memory in
    static TLS block`. musl reserves nothing. The check skips programs, and libraries that are linked only by programs
    of the package: their variables get memory when the process starts.
    """
    limit = 0 if image.libc == "musl" else _SURPLUS
    if image.static_tls <= limit or image.file_type == "executable" or image.interpreter:
        return
    users = package.users.get(file.name, frozenset()) - {file.name}
    programs = {
        other.name for other, linked in package.images if linked.interpreter or linked.file_type == "executable"
    }
    if users and users <= programs:
        return
    yield Hit(
        message=f"needs {image.static_tls} bytes in the thread-local block of a running program, "
        f"which has {limit} free",
        evidence=("DF_STATIC_TLS", f"PT_TLS of {image.static_tls} bytes"),
    )


@check(
    "LB116",
    "Search path twice",
    "warning",
    because="macOS 15.4 and newer refuse to load the file.",
    formats=("macho",),
    example="libspeech.dylib: LC_RPATH @loader_path, twice",
    fix="Delete the repeated path with install_name_tool -delete_rpath, and sign the file again.",
)
def search_path_twice(image: Image) -> Hits:
    """dyld reports `duplicate LC_RPATH`. From Xcode 15 on, Apple's linker omits duplicates; other tools do not."""
    twice = sorted({path for path in image.rpath if image.rpath.count(path) > 1})
    if twice:
        times = image.rpath.count(twice[0])
        yield Hit(
            names=tuple(twice),
            message=f"has the search path {twice[0]} {times} times, which macOS 15.4 and newer refuse",
            evidence=tuple(f"LC_RPATH {path}" for path in twice),
        )


@check(
    "LB117",
    "Segments that some systems cannot map",
    "warning",
    because="On some systems that the tag or RID includes, the loader refuses the library.",
    example="liblatenn.so for arm64, with segments aligned to 4096 bytes",
    fix="Link with -Wl,-z,max-page-size=65536. Do not use patchelf 0.18.",
)
def unmappable(package: Contents) -> Hits:
    """A kernel maps whole pages, and kernels for arm64 and POWER may have pages of 64 KB.

    Some Android devices have pages of 16 KB; Google Play refuses 64-bit apps for them with a smaller alignment.

    glibc before 2.35 also refuses a segment if the difference between its address and its file offset is not a multiple
    of its alignment. patchelf 0.18 makes such segments: `ELF load command address/offset not properly aligned`.
    """
    for file, image in package.images:
        if image.format == "elf" and image.is_linked:
            yield from _judge_segments(package, file, image)


def _judge_segments(package: Contents, file: File, image: Image) -> Hits:
    seen = (f"PT_LOAD p_align {image.page:#x}",)
    is_new_android = _is_for_new_android(package, file)
    if is_new_android and 0 < image.page < _ANDROID_PAGE:
        text = f"has segments aligned to {image.page} bytes, but Android needs {_ANDROID_PAGE}"
        yield Hit(cause="Android", inner=file.name, message=text, evidence=seen, fix=_FOR_ANDROID)
    elif is_new_android or is_for_android(file.folder) or unjudged_platform(package, file) or image.unjudged:
        return
    elif 0 < image.page <= _SMALL < _LARGEST_PAGES.get(image.arch, 0):
        text = f"has segments aligned to {image.page} bytes, but some kernels for {image.arch} have larger pages"
        yield Hit(cause="pages", inner=file.name, message=text, evidence=seen)
    elif image.is_skewed and (tag := lowest_tag(package, "glibc")) and tag.floor < _LENIENT:
        text = "has a segment that glibc before 2.35 refuses: its address does not match its file offset"
        seen = ("PT_LOAD whose p_vaddr and p_offset differ modulo p_align",)
        yield Hit(cause="skew", inner=file.name, message=text, evidence=seen)


def _is_for_new_android(package: Contents, file: File) -> bool:
    """Whether a wheel's tag, or a file's folder or RID promises that devices with 16 KB pages may load the file."""
    abi, processor = android_abi(file.folder)
    if abi:
        return processor in _LARGE_ON_ANDROID
    tags = package.platforms
    return any(map(_ANDROID_TAG.fullmatch, tags)) if tags else promised_rid(package, file) in _ANDROID_RIDS


@check(
    "LB606",
    "Executable stack",
    "error",
    because="glibc 2.41 and newer refuse to load the library into a running program. The finding is a warning for "
    "programs, which still start.",
    formats=("elf",),
    example="liblatenn.so: GNU_STACK RWE",
    fix="Link with -Wl,-z,noexecstack and add a .note.GNU-stack section to assembly files.",
)
def executable_stack(image: Image) -> Hits:
    """One library with an executable stack makes the stack of the whole process executable.

    glibc 2.41 and newer allow an executable stack only while a program starts, and refuse to load the library later.
    """
    if image.exec_stack:
        yield Hit(
            message="requests an executable stack",
            evidence=("GNU_STACK flags RWE",),
            severity="warning" if image.file_type == "executable" or image.interpreter else "error",
        )


@check(
    "LB607",
    "Text relocations",
    "note",
    because="glibc and musl load the library, but SELinux keeps confined programs from loading it.",
    formats=("elf",),
    example="liblatenn.so: DT_TEXTREL",
    fix="Compile everything, including assembly, with -fPIC, and link with -Wl,-z,text.",
)
def text_relocations(image: Image) -> Hits:
    """To load such a library, the loader has to make code writable.

    Android refuses to do so, and SELinux forbids it in confined programs. Other systems load the library, but cannot
    share its code between processes, and each load takes longer.
    """
    if image.text_relocations:
        yield Hit(message="has relocations in its code (text relocations)", evidence=("DT_TEXTREL or DF_TEXTREL",))


@check(
    "LB118",
    "Code for newer processors than the package promises",
    "warning",
    because="On processors below the level that the file names, glibc 2.33 and newer refuse to load it.",
    formats=("elf",),
    kinds=INSTALLED,
    example="libspeech.so needs x86-64-v3",
    fix="Link without -Wl,-z,x86-64-v2, -v3 and -v4.",
)
def level_above_tag(image: Image) -> Hits:
    """The tags and RIDs for x86-64 promise SSE2. `-Wl,-z,x86-64-v3` writes another level into the notes of an ELF file.

    glibc compares the level with the processor: `CPU ISA level is lower than required`. A file without such a
    note is not reported, even if its code is for AVX: a program may choose such code by the processor.
    """
    if image.isa:
        yield Hit(
            cause=image.isa,
            message=f"needs {image.isa}, so glibc refuses to load it on some processors that the package admits",
            evidence=(f"GNU_PROPERTY_X86_ISA_1_NEEDED {image.isa}",),
        )
