"""Ways to break what happens when the libraries are loaded and called, which no look at the files shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.broken import natives
from tests.support.broken.packages import CORE, Way

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.support.broken.packages import Packages

# latenn_backend.h: NULL says that the version of the interface is not spoken.
_OTHER_VERSION = "const void *latenn_backend_table(unsigned abi) { static int table; return abi == 2 ? &table : 0; }\n"
_UNRELATED = "int latenn_backend_table_v2(void) { return 2; }\n"
_AT_LOAD = "__attribute__((constructor)) static void at_load(void) {{ {act} }}\n"
_PRINTS = "#include <unistd.h>\n" + _AT_LOAD.format(act='write(2, "latenn 0.1.0 loaded\\n", 20);')
_ENDS = "#include <stdlib.h>\n" + _AT_LOAD.format(act="_Exit(0);")
_CRASHES = _AT_LOAD.format(act="*(volatile int *)0 = 1;")
_FLUSHES = "#include <xmmintrin.h>\n" + _AT_LOAD.format(act="_mm_setcsr(_mm_getcsr() | 0x8040);")
_ROUNDS = "#include <fenv.h>\n" + _AT_LOAD.format(act="fesetround(FE_UPWARD);")
_HANDLES = "#include <signal.h>\nstatic void ignore(int number) { (void)number; }\n" + _AT_LOAD.format(
    act="signal(SIGTERM, ignore);"
)
_SETS = "#include <stdlib.h>\n" + _AT_LOAD.format(act='setenv("OMP_NUM_THREADS", "1", 1);')


def _backend(source: str) -> Callable[[Packages], object]:
    return lambda packages: packages.replace(lambda _: natives.compile_library(source))


def _helper(source: str, *flags: str) -> Callable[[Packages], object]:
    """The backend needs a library next to it, found by its own folder, that does something when it is loaded."""

    def add(packages: Packages) -> None:
        soname = "-Wl,-soname,liblatenn_helper.so"
        packages.beside("liblatenn_helper.so", natives.compile_library(source, soname, *flags))
        packages.replace(lambda data: natives.searching("$ORIGIN")(natives.needing("liblatenn_helper.so")(data)))

    return add


def _core_lacking(packages: Packages) -> None:
    """The core has the backend's bytes: a real library of the right processor that is another one."""
    data = packages.native()
    packages.replace(lambda _: data, CORE)


WAYS: Sequence[Way] = (
    Way(name="backend-of-another", title="the backend speaks another version of the core's interface",
        breaks=_backend(_OTHER_VERSION)),
    Way(name="backend-without-table", title="the backend does not export its table", breaks=_backend(_UNRELATED)),
    Way(name="core-exchanged", title="the core's file holds the backend", breaks=_core_lacking),
    Way(name="crashes-at-load", title="a library crashes when it is loaded", breaks=_helper(_CRASHES)),
    Way(name="ends-at-load", title="a library ends the process with success when it is loaded",
        breaks=_helper(_ENDS)),
    Way(name="prints-at-load", title="a library prints when it is loaded", breaks=_helper(_PRINTS)),
    Way(name="rounds-otherwise", title="a library changes how the processor rounds when it is loaded",
        breaks=_helper(_ROUNDS)),
    Way(name="flushes-tiny", title="a library takes tiny numbers for zero once it is loaded, as -ffast-math does",
        breaks=_helper(_FLUSHES)),
    Way(name="handles-signals", title="a library takes over a signal when it is loaded", breaks=_helper(_HANDLES)),
    Way(name="sets-variables", title="a library sets a variable of the environment when it is loaded",
        breaks=_helper(_SETS)),
)  # fmt: skip
