"""What the process that loads a file defines, so that the file may leave it open."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from loadcheck.engine import platforms
from loadcheck.readers.package_json import read_manifest

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, File

OF_CXX = re.compile(
    r"_Z(N?V?K?S|T[CISTV]N?K?S|GV?N?K?S|T(hn?\d+|vn?\d+_n?\d+)_N?K?S|T[IS](PK?)?(D[a-z]|[a-z])$|T[IV]N10__cxxabiv|"
    r"n[wa]|d[la])|__cxa_|__gxx_|__(dynamic_cast|once_proxy)$|_Unwind_"
)
"""What C++'s run-time library defines: std, operator new and delete, exceptions, casts, types of the language."""
OF_EVERY_MAC = re.compile(
    r"_?(objc|OBJC|sel|class|object|method|protocol|ivar)_|_?(dyld|dispatch|mach|malloc|xpc)_|memset_s$|"
    rf"__stack_chk_\w+$|{OF_CXX.pattern}"
)
"""libSystem loads the run-time libraries of C, Objective-C and C++ into every process of macOS."""
OF_FRAMEWORK = re.compile(r"(__|k)?[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|v(Image|DSP)\w*")
"""How Apple names the functions of its frameworks: CMTimeMake, FSPathMakeRef, Gestalt."""
OF_NODE = re.compile(
    r"_?(napi|node|uv|ares|nghttp2|(EVP|SSL|X509|BIO|CRYPTO|OPENSSL|ERR|RAND|RSA|EC|BN|PEM))_|_?Brotli(De|En)coder|"
    r"((de|in)flate[A-Z]\w*|deflate|inflate|compress(2|Bound)?|uncompress2?|gz[a-z]+\d*|zlib(Version|CompileFlags)|zError|"
    r"(crc32|adler32)(_\w+)?)$|_?(llhttp|OSSL|PKCS\d+)_|"
    rf"_Z\w*?(2v8|4node)|{OF_CXX.pattern}"
)
"""What Node.js itself exports to the files that it loads: its own functions, those of libuv and V8, and C++'s library.

Official builds of Node.js 20 also export c-ares, nghttp2, OpenSSL, zlib and Brotli (nm -D), and load libstdc++.
"""


def is_spare_slice(package: Contents, file: File, image: Image) -> bool:
    """Whether a slice is for a processor for which no tag of the wheel promises anything: no system loads it."""
    tags = package.wheel.platforms if package.wheel is not None and len(file.images) > 1 else ()
    promised = [platforms.tag_archs(tag) for tag in tags]
    return all(promised) and bool(promised) and all(image.arch not in archs for archs in promised)


def links_framework(package: Contents, image: Image) -> bool:
    """Whether an image loads a framework of macOS, itself or by a library of the package.

    A flat look-up searches all images of the process, also those that others have loaded.
    """
    fitting = ((packaged, other) for packaged, other in package.images if other.arch == image.arch)
    libraries = {name: other for packaged, other in fitting for name in (packaged.base, other.soname)}
    seen, waiting = {id(image)}, [image]
    while waiting:
        for name in waiting.pop().needed:
            if name.startswith("/System/Library/Frameworks/"):
                return True
            other = libraries.get(name) or libraries.get(posixpath.basename(name))
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)
    return False


def is_for_node(package: Contents, file: File) -> bool:
    """Whether Node.js loads a file: an add-on, and a library of an npm package that no program of it loads."""
    if file.is_node_addon or read_manifest(package) is None:
        return file.is_node_addon
    programs = {other.name for other, image in package.images if image.file_type == "executable" or image.interpreter}
    return programs.isdisjoint(package.users_of(file.name))
