"""Bad subjects for LB8xx."""

from __future__ import annotations

from corpus.cases.case import Case, made_by
from corpus.packages import Bench, pe

LIB = "ep_acme/libacme_ep.so"
MODULE = "ep_acme/__init__.py"
NATIVE = "runtimes/linux-x64/native/libacme_ep.so"
NAMES = 'const char *latenn_name(void) { return "AcmeExecutionProvider"; }\n'
HIDDEN = '__attribute__((visibility("hidden"))) '
ENTRIES = "int CreateEpFactories(void) { return 1; }\nint ReleaseEpFactory(void) { return 1; }\n"
OPERATORS = "int RegisterCustomOps(void) { return 0; }\n"
SEEKS = "const void *OrtGetApiBase(void);\nconst void *base(void) { return OrtGetApiBase(); }\n"
BINDS = 'const char *folder(void) { return "ONNXRUNTIME_LIB_PATH"; }\n'
AT_EXIT = """\
int __cxa_atexit(void (*)(void *), void *, void *);
__attribute__((visibility("hidden"))) void latenn_end(void *ended) { *(volatile int *)ended = 0; }
__attribute__((constructor)) static void start(void) { static int one; __cxa_atexit(latenn_end, &one, 0); }
"""
FINALIZES = "void __cxa_finalize(void *);\n__attribute__((destructor)) static void end(void) { __cxa_finalize(0); }\n"
HELPERS = """\
def get_library_path():
    return "libacme_ep.so"


def get_ep_names():
    return ["AcmeExecutionProvider"]
"""
EXTENSION = "int sqlite3_acme_init(void) { return 0; }\n"
EXTENSION_HELPERS = """\
def loadable_path():
    return "libacme.so"


def load(connection):
    connection.load_extension(loadable_path())
"""
SUPPORTS = "\nSupports ONNX Runtime 1.23 or newer."
ASSEMBLY = "lib/netstandard2.0/Acme.dll"


@made_by
def library(bench: Bench, source: str = ENTRIES) -> bytes:
    return bench.compiler.library(f"{source}{HIDDEN}{NAMES}{USED}", name="libacme_ep.so").read_bytes()


# What lb_ep_negotiate() leaves in a library whose factory gives another name.
NEGOTIATES = """\
__attribute__((visibility("hidden"))) const char *latenn_name(void) { return "AcmeNpuExecutionProvider"; }
const char *latenn_text(void) { return "AcmeExecutionProvider 1.0.0+cpu needs ONNX Runtime 1.23 or newer; this is %s"; }
"""


@made_by
def negotiating(bench: Bench):
    """A wheel whose library has the name that its helper gives only in the message of lb_ep_negotiate()."""
    library = bench.compiler.library(f"{ENTRIES}{NEGOTIATES}", name="libacme_ep.so").read_bytes()
    return bench.wheel({LIB: library, MODULE: HELPERS.encode()}, metadata=SUPPORTS)


USED = f"{HIDDEN}const char *(*volatile latenn_kept)(void) = latenn_name;\n"


def wheel(*, source: str = ENTRIES, module: str = HELPERS, metadata: str = SUPPORTS, name: str = LIB):
    """A wheel of an execution provider; what is given is broken."""
    return lambda bench: bench.wheel({name: library(source)(bench), MODULE: module.encode()}, metadata=metadata)


def extension(**broken: str):
    """The same of a SQLite extension."""
    return wheel(**{"source": EXTENSION, "module": EXTENSION_HELPERS, "name": "ep_acme/libacme.so", **broken})


HELPED = b"\0GetLibraryPath\0GetEpNames\0"


def nupkg(helpers: bytes = HELPED, extra: str = "", more: tuple[str, ...] = ()):
    """A nupkg of an execution provider."""

    def make(bench: Bench):
        files = {NATIVE: library()(bench), ASSEMBLY: pe(managed=True) + helpers, **dict.fromkeys(more, bench.good())}
        return bench.nupkg(files, extra=extra)

    return make


def text(value: str) -> bytes:
    """A text of C# as in an assembly: its length, UTF-16, and whether it has rare characters (ECMA-335, II.24.2.4)."""
    return bytes([2 * len(value) + 1]) + value.encode("utf-16-le") + b"\0"


def depends(name: str) -> str:
    return f'<dependencies><dependency id="{name}" version="1.23.0" /></dependencies>'


def case(code: str, what: str, bad, *, good=None, at: str = f"!{LIB}", **how: object) -> Case:
    """A case of a wheel's library, unless it says otherwise."""
    return Case(code=code, what=what, bad=bad, good=good or wheel(), at=at, **how)


CASES = [
    case("LB801", "the second entry point has a plural name",
         wheel(source=ENTRIES.replace("ReleaseEpFactory", "ReleaseEpFactories")), says="ReleaseEpFactories"),
    case("LB801", "SQLite looks up another name in a file of this name", extension(name="ep_acme/acme_sql.so"),
         good=extension(name="ep_acme/Acme2.so", module=EXTENSION_HELPERS.replace("libacme.so", "Acme2.so")),
         at="!ep_acme/acme_sql.so",
         says="does not export sqlite3_acmesql_init, which SQLite looks up", severity="warning"),
    case("LB802", "a SQLite extension exports a function of its own",
         extension(source=f"{EXTENSION}int acme_log(void) {{ return 1; }}\n"),
         good=extension(source=f"{EXTENSION}int sqlite3_acme_more_init(void) {{ return 1; }}\n"),
         at="!ep_acme/libacme.so", says="acme_log", severity="warning"),
    case("LB803", "the module of a SQLite extension does not give its path",
         extension(module=EXTENSION_HELPERS.replace("loadable_path", "path")), good=extension(),
         at="!ep_acme/__init__.py", says="loadable_path", severity="warning"),
    case("LB804", "the module names an extension that is not there", extension(name="ep_acme/acme.so"),
         good=extension(), at="!ep_acme/__init__.py", says="names libacme.so"),
    case("LB802", "a function of the vendor is exported",
         wheel(source=f"{ENTRIES}int acme_log(void) {{ return 1; }}\n"), says="acme_log", severity="warning"),
    case("LB803", "the module has no helper for the path", wheel(module=HELPERS.replace("get_library_path", "path")),
         at=f"!{MODULE}", says="get_library_path", severity="warning"),
    case("LB803", "the module cannot be parsed", wheel(module="def get_library_path(:"),
         good=wheel(module="from ._impl import get_ep_names, get_library_path"), at=f"!{MODULE}", says="get_ep_names",
         severity="warning"),
    case("LB803", "no assembly has the helpers", nupkg(helpers=b""), good=nupkg(), at=f"!{NATIVE}",
         says="GetLibraryPath", severity="warning"),
    case("LB804", "the library has a version in its name", wheel(name=f"{LIB}.1"), at=f"!{MODULE}",
         says="libacme_ep.so.1"),
    case("LB804", "the library has capital letters, which the helper has not", wheel(name="ep_acme/libAcme.so"),
         good=wheel(name="ep_acme/libAcme.so", module=HELPERS.replace("libacme_ep.so", "libAcme.so")), at=f"!{MODULE}",
         says="libAcme.so"),
    case("LB805", "the helper gives another name",
         wheel(module=HELPERS.replace("AcmeExecutionProvider", "AcmeNpuExecutionProvider")), at=f"!{MODULE}",
         says="AcmeNpuExecutionProvider", severity="warning"),
    case("LB805", "the name is in the message of lb_ep_negotiate() alone", negotiating(), at=f"!{MODULE}",
         says="AcmeNpuExecutionProvider", severity="warning"),
    case("LB805", "the assembly gives another name", nupkg(helpers=HELPED + text("AcmeNpuExecutionProvider")),
         good=nupkg(helpers=HELPED + text("AcmeExecutionProvider")), at=f"!{ASSEMBLY}", says="AcmeNpuExecutionProvider",
         severity="warning"),
    case("LB806", "it depends on the runtime's package", nupkg(extra=depends("Microsoft.ML.OnnxRuntime")),
         good=nupkg(extra=depends("Acme.Tools")), at=".nupkg", says="Microsoft.ML.OnnxRuntime", severity="warning"),
    case("LB806", "it depends on the runtime's assembly", nupkg(extra=depends("Microsoft.ML.OnnxRuntime.Managed")),
         good=nupkg(), at=".nupkg", says="OnnxRuntime.Managed", severity="warning"),
    case("LB809", "a destructor is left to the end of the process", wheel(source=ENTRIES + AT_EXIT),
         good=wheel(source=ENTRIES + AT_EXIT + FINALIZES), says="__cxa_finalize", severity="warning"),
    case("LB809", "custom operators leave a destructor to the end of the process", wheel(source=OPERATORS + AT_EXIT),
         good=wheel(source=OPERATORS + AT_EXIT + FINALIZES), says="__cxa_finalize", severity="warning"),
    case("LB810", "custom operators leave the runtime's entry undefined", wheel(source=OPERATORS + SEEKS),
         good=wheel(source=OPERATORS), says="imports OrtGetApiBase"),
    case("LB810", "custom operators contain a stub", wheel(source=OPERATORS + BINDS), good=wheel(source=BINDS),
         says="exports RegisterCustomOps", severity="warning"),
    case("LB809", "SQLite unloads an extension with a destructor", extension(source=EXTENSION + AT_EXIT),
         good=extension(source=EXTENSION + AT_EXIT + FINALIZES), at="!ep_acme/libacme.so", says="__cxa_finalize",
         severity="warning"),
    case("LB808", "a RID has a companion alone", nupkg(more=("runtimes/win-x64/native/acme.dll",)),
         good=nupkg(more=("runtimes/linux-x64/native/libacme.so",)), at="!runtimes/win-x64/native/acme.dll",
         says="linux-x64"),
]  # fmt: skip
