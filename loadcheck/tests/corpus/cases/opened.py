"""Bad subjects whose libraries Python code opens by their paths, or seems to."""

from __future__ import annotations

from corpus.cases import linkage, macos
from corpus.cases.case import Case, contents, made_by, shared, wheel
from corpus.packages import MAC_TAG, Bench

INIT = "latenn/__init__.py"
ODD, DEEP = "latenn/libodd.so", "latenn/deps/libodd.so.3"
MAC_ODD = "latenn/deps/libodd.dylib"
MUSL, MUSL_TAG = "x86_64-linux-musl", "py3-none-musllinux_1_2_x86_64"
START = "import ctypes, os, sys\nhere = os.path.dirname(os.path.abspath(__file__))\n"
NAMED = f'{START}ctypes.CDLL(os.path.join(here, "deps", "libodd.so.3"))\n'.encode()
BARE = f'{START}print(here)\nctypes.CDLL("libodd.so.3")\n'.encode()
FOUND = f'{START}ctypes.CDLL(ctypes.util.find_library("odd"), os.path.join(here, "x"))\n'.encode()
SCANNED = f"""{START}
for name in os.listdir(os.path.join(here, "deps")):
    ctypes.CDLL(os.path.join(here, "deps", name))
""".encode()
OTHER_FOLDER = SCANNED.replace(b"deps", b"other")
GLOBBED = b"""
import ctypes, pathlib
for path in sorted((pathlib.Path(__file__).parent / "deps").glob("libodd.so*")):
    ctypes.CDLL(str(path))
"""
OTHER_GLOB = GLOBBED.replace(b"libodd.so*", b"*.dll")
BY_STEM = f"""{START}
def load(name):
    ending = ".dylib" if sys.platform == "darwin" else ".so"
    return ctypes.cdll.LoadLibrary(f"{{here}}/lib{{name}}{{ending}}")
for each in ("odd", "even"):
    load(each)
""".encode()
ON_WINDOWS = f"""{START}
if sys.platform == "win32":
    for name in os.listdir(os.path.join(here, "deps")):
        ctypes.CDLL(os.path.join(here, "deps", name))
""".encode()
FOR_MAC = NAMED.replace(b"libodd.so.3", b"libodd.dylib")
BY_CFFI = b"from ._voice import ffi\nfrom pathlib import Path\nffi.dlopen(str(Path(__file__).with_name('libodd.so')))\n"
ELSEWHERE = b"import ctypes, os\nctypes.CDLL(os.path.join(os.environ['ODD_ROOT'], 'lib', 'libodd.so.3'))\n"
WINDOWS_ALONE = NAMED.replace(b"CDLL", b"WinDLL")
OPENS_USER = b'ctypes.CDLL(os.path.join(here, "liblatenn.so"))\n'
IN_TIME = NAMED + OPENS_USER
TOO_LATE = NAMED.replace(b"ctypes.CDLL", OPENS_USER + b"ctypes.CDLL")
LIB, RPATH = linkage.LIB, "-Wl,-rpath,/home/ci/build/lib"
OF_BUILD = contents(shared(linkage.STRANGER, shared("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3",
    name="libodd.so"), RPATH))  # fmt: skip
OTHER_SONAME = contents(shared("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.4", name="libodd.so"))


@made_by
def musl(bench: Bench, script: bytes):
    """A wheel for musl in which Python code opens the library."""
    library = bench.compiler.library(
        "int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", target=MUSL, name="libodd.so"
    )
    user = bench.compiler.library(linkage.STRANGER, library, target=MUSL).read_bytes()
    return bench.wheel({LIB: user, DEEP: library.read_bytes(), INIT: script}, tag=MUSL_TAG)


def deep(script: bytes):
    """A wheel whose library is in a folder that nothing searches."""
    return wheel({LIB: linkage.with_odd, DEEP: linkage.odd, INIT: script})


def beside(path: bytes):
    """A wheel whose code opens its library as soon as it is imported."""
    script = b"import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), '%s'))\n" % path
    return wheel({"latenn/deps/odd.so": linkage.odd, INIT: script})


def renamed(script: bytes):
    """A wheel that has the library under another file name than the needed one."""
    return wheel({LIB: linkage.with_odd, ODD: linkage.odd, INIT: script})


def mac(script: bytes, *flags: str):
    library = macos.odd(macos.ODD, *flags)
    return wheel({macos.LIB: macos.with_odd(*flags), MAC_ODD: contents(library), INIT: script}, tag=MAC_TAG)


def of_build(script: bytes):
    return wheel({LIB: OF_BUILD, DEEP: linkage.odd, INIT: script})


def case(code: str, what: str, bad, good, says: str, **how: str) -> Case:
    """Code that opens a library leaves a note: the system does not find the library without that code."""
    usual = {"at": f"!{LIB}", "severity": "warning", "good_severity": "note"}
    return Case(code, what, bad, good, says=says, **{**usual, **how})


NOWHERE, LOADED = "where the loader does not search", "it is found only if already loaded"
CASES = [
    case("LB114", "opened by its name alone; by its path", deep(BARE), deep(NAMED), NOWHERE),
    case("LB114", "found in the system's folders; in a loop over the folder", deep(FOUND), deep(SCANNED), NOWHERE),
    case("LB114", "a loop over another folder; over the one", deep(OTHER_FOLDER), deep(SCANNED), NOWHERE),
    case("LB114", "a pattern of other files; one that fits", deep(OTHER_GLOB), deep(GLOBBED), NOWHERE),
    case("LB114", "a loop on Windows; everywhere", deep(ON_WINDOWS), deep(SCANNED), NOWHERE),
    case("LB114", "a function of Windows; of all systems", deep(WINDOWS_ALONE), deep(NAMED), NOWHERE),
    case("LB114", "opened by its path, and then a note", deep(NAMED), deep(BARE),
         NOWHERE, severity="note", good_severity="warning"),
    case("LB114", "opened, but its SONAME is another", wheel({LIB: linkage.with_odd, DEEP: OTHER_SONAME, INIT: NAMED}),
         deep(NAMED), NOWHERE),
    case("LB114", "musl does not find what a path opened", musl(NAMED), deep(NAMED), NOWHERE),
    case("LB114", "code that cannot be parsed", deep(NAMED + b"def"), deep(NAMED), NOWHERE),
    case("LB114", "an install name that is not from an rpath", mac(FOR_MAC, macos.BESIDE), mac(FOR_MAC),
         NOWHERE, at=f"!{macos.LIB}"),
    case("LB114", "opened next to the code, where it is not; where it is", beside(b"odd.so"), beside(b"deps/odd.so"),
         "is opened by latenn/__init__.py as latenn/odd.so, but the package has it elsewhere",
         at="!latenn/deps/odd.so", good_severity=""),
    case("LB107", "another name than the needed one, opened by its path", renamed(BARE), renamed(BY_STEM), LOADED),
    case("LB107", "another name than the needed one, opened by cffi", renamed(BARE), renamed(BY_CFFI), LOADED),
    case("LB114", "opened after the library that needs it", deep(TOO_LATE), deep(IN_TIME), NOWHERE),
    case("LB107", "expected where the package is; outside of it", wheel({LIB: linkage.with_odd, INIT: NAMED}),
         wheel({LIB: linkage.with_odd, INIT: ELSEWHERE}), "libodd.so.3, which is not in the package", severity="error",
         good_severity="warning"),
    case("LB107", "opened outside the package", wheel({LIB: linkage.with_odd, INIT: ELSEWHERE}),
         wheel({LIB: linkage.with_odd, INIT: NAMED}), "libodd.so.3, which is not in the package",
         good_severity="error"),
    case("LB108", "a folder of the build machine, and a library that is opened first", of_build(BARE), of_build(NAMED),
         "/home/ci/build/lib"),
]  # fmt: skip
