"""Has a project's own build link stubs in the place of its libraries: by what is set for it, which a trial chooses."""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.adopt.ownbuild import build_plainly, copy_project, first_error
from latebind.adopt.product import list_stub_commands, read_product
from latebind.backend.targets import host_rid, target
from latebind.errors import BuildError, NotRun
from latebind.native.stubplaces import set_places
from latebind.system.run import run
from latebind.text import DOCS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from latebind.adopt.ownbuild import Backend
    from latebind.adopt.product import Product
    from latebind.tables.presets import RuntimePreset

REBUILD = "then build the wheel again, from scratch: without the folder build, if there is one"
_LIMIT = 1800.0
_OPEN_LIMIT = 60.0
_OPEN = """
import ctypes, os, sys
def is_loaded(name):
    try:
        return bool(ctypes.CDLL(name, os.RTLD_NOLOAD | os.RTLD_LAZY))
    except OSError:
        return False
library, *sought = sys.argv[1:]
sought = [name for name in sought if not is_loaded(name)]
ctypes.CDLL(library)
print(*filter(is_loaded, sought), sep="\\n")
"""

_DEFINE = """
import ctypes, os, sys
class Info(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), *((name, ctypes.c_void_p) for name in ("base", "symbol", "at"))]
library, *names = sys.argv[1:]
handle, info = ctypes.CDLL(library), Info()
for name in names:
    if hasattr(handle, name) and ctypes.CDLL(None).dladdr(getattr(handle, name), ctypes.byref(info)):
        print(name, os.path.basename(os.fsdecode(info.file)))
"""


def enter(root: Path) -> str:
    """The beginning of a command that is to run in a project's folder; "" if the shell is there."""
    here = Path.cwd()
    if root == here:
        return ""
    return f"cd {shlex.quote(str(root.relative_to(here) if root.is_relative_to(here) else root))} && "


def warn_of_spaces(folder: Path) -> Iterator[str]:
    """A line where the stub's folder may be taken for two."""
    if " " in str(folder.resolve()):
        yield f"not tried: {folder.resolve()} has a space, at which many builds split: name another folder for --output"


def make_stubs(runtimes: Iterable[RuntimePreset], folder: Path) -> Path:
    """Make the stubs of libraries for this machine, by the command that is printed; returns the folder of both.

    Raises BuildError with what that command says.
    """
    for runtime in runtimes:
        described = str(Path(runtime.file).resolve()) if runtime.file else runtime.name
        argv = [sys.executable, "-m", "latebind", "stub", described, "--output", str(folder)]
        ended = run(argv, cwd=folder.parent, timeout=_LIMIT, check=False)
        if ended.returncode:
            message, _, advice = ended.output.rpartition("error: ")[2].partition("\nhelp: ")
            raise BuildError(message.strip(), advice=advice.strip())
    return folder / host_rid()


def list_unserved(product: Product) -> Iterator[str]:
    """A line on what each library needs besides its stub: a header for variables, an option for weak functions.

    Raises LatebindError for a description of which no stub can be made.
    """
    page = f"{DOCS}/howto/stub.md#what-cannot-be-bound-late"
    for runtime in product.runtimes:
        with suppress(NotRun):  # a header, and no zig to read it
            variables, weak = product.list_unserved(runtime)
            if variables:
                header = f"latebind/{runtime.name}_variables.h after the library's header"
                text = f"first include {header} where {', '.join(variables)} is used, in configure's own tests, too"
                yield f"{text}; it doesn't serve that header's inline functions and static initializers: {page}"
            if weak:
                option = f"-Wl,-u,{',-u,'.join(weak)}"
                flags = f'LDFLAGS="$LDFLAGS {option}" CGO_LDFLAGS="$CGO_LDFLAGS {option}"'
                yield f"then: export {flags}  # these are weak: {page}"


def list_brought(product: Product, runtimes: Iterable[RuntimePreset]) -> Iterator[str]:
    """A line for each library that a product links, and that loads one of `runtimes` by itself.

    This machine's loader is asked: a process opens the library by its name, and then knows what came with it.
    """
    if target(host_rid()).system != "linux":
        return
    sought = _name_files(runtimes)
    linked = {name for names in product.linked.values() for name in names}
    for library in sorted(linked - sought.keys()) if sought else ():
        for brought in _find_brought(str(product.built_with.get(library, library)), tuple(sought)):
            text = f"{library} is linked, too, and loads {brought}: to do without {sought[brought].title}"
            yield f"left: {text}, bind {library} late as well"


@cache
def _find_brought(library: str, sought: tuple[str, ...]) -> tuple[str, ...]:
    """Which of these libraries are loaded with another; none where this machine doesn't find that."""
    return tuple(_ask_loader(_OPEN, library, sought) or ())


def _name_files(runtimes: Iterable[RuntimePreset]) -> dict[str, RuntimePreset]:
    """The libraries by the names under which Linux's loader has them."""
    return {name: runtime for runtime in runtimes for name in runtime.list_files("linux") if "*" not in name}


def _ask_loader(script: str, library: str, names: Iterable[str]) -> list[str] | None:
    """The lines that a process prints which opens a library; None where that cannot be opened."""
    ended = run([sys.executable, "-I", "-c", script, library, *names], timeout=_OPEN_LIMIT, check=False)
    return None if ended.returncode else [line for line in ended.output.splitlines() if line]


def judge_trial(products: Mapping[str, Product], before: Iterable[Product] = ()) -> tuple[bool, tuple[str, ...]]:
    """Whether all that was built with stubs binds late and lacks no function, and a line on each, by its name.

    What lacked functions `before`, lacks them anyway.
    """
    linking = tuple(f"left: {line}" for product in products.values() for line in product.describe())
    anyway = {name for product in before for name in product.list_lacking()}
    lacking = {name for product in products.values() for name in product.list_lacking()} - anyway
    runtimes = {runtime.name: runtime for product in products.values() for runtime in product.bound}
    definers = _find_definers(lacking, runtimes.values())
    elsewhere = {name: file for name, file in definers.items() if file}
    if own := sorted(lacking - definers.keys()):
        text = f"the stub lacks {', '.join(own)}: list the library itself as functions of the stub, not a header"
        linking = (*linking, f"left: {text}: {DOCS}/howto/stub.md")
    late = (_describe_bound(name, product) for name, product in products.items() if product.bound)
    more = (
        f"then link {library}, too, which has {', '.join(name for name in elsewhere if elsewhere[name] == library)}"
        for library in sorted({*elsewhere.values()})
    )
    nowhere = ", ".join(sorted(definers.keys() - elsewhere.keys()))
    same = (f"as when linked: it uses {nowhere}, which the library here lacks",) if nowhere else ()
    return not linking, linking or (*late, *more, *same)


def _describe_bound(name: str, product: Product) -> str:
    text = f"tried: {name} binds {' and '.join(runtime.title for runtime in product.bound)} late"
    return f"{text}; it loads once the header of variables is included" if product.list_missing_variables() else text


def _find_definers(names: Iterable[str], runtimes: Iterable[RuntimePreset]) -> dict[str, str]:
    """Of functions that stubs lack, those that the libraries here lack, too, each with the file that has it instead.

    That is one which comes with the library, or "". This machine's loader is asked, as list_brought() asks it; without
    the libraries, nothing is known.
    """
    sought, found = sorted(names), dict[str, str]()
    if not sought or target(host_rid()).system != "linux":
        return found
    libraries = _name_files(runtimes)
    for library in sorted(libraries):
        lines = _ask_loader(_DEFINE, library, sought)
        if lines is not None:
            found = {**dict.fromkeys(sought, ""), **found, **dict(line.split() for line in lines)}
    return {name: file for name, file in found.items() if file not in libraries}


def try_stubs(
    root: Path, scratch: Path, backend: Backend, product: Product, described: tuple[RuntimePreset, ...]
) -> tuple[bool, tuple[str, ...]]:
    """Build a project's wheel with stubs in a folder: whether that binds all late, and what to do, or what is left."""
    scratch.mkdir()
    stubs = make_stubs(product.runtimes, scratch / "stubs")
    copy = copy_project(root, scratch / "project")
    try:
        wheel = build_plainly(backend, copy, scratch, set_places(stubs))
    except BuildError as error:
        return False, (f"left: with the stub in its place the build fails: {first_error(error.message).strip()}",)
    is_late, tried = judge_trial({wheel.name: read_product(wheel, described)}, [product])
    if not is_late:
        return False, tried
    return True, (
        f"next: {enter(root)}{list_stub_commands(product.runtimes)}",
        *warn_of_spaces(root),
        *list_unserved(product),
        REBUILD,
        *tried,
    )
