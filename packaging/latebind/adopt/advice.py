"""Adopts late binding in a project: says what it links and why, and what to write, as a trial shows that it works.

Nothing is kept between two runs: each looks at the project as it is, and says what is done and what is left.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from latebind.adopt.addon import BINDING, ELSEWHERE, try_addon
from latebind.adopt.configured import LIMIT, PACKED, configure
from latebind.adopt.latebinding import Change, plan_changes, try_plan
from latebind.adopt.operators import advise_operators, describe_operators, try_operators
from latebind.adopt.ownbuild import build_wheel, copy_project, first_error, prepare_backend
from latebind.adopt.plan import list_facts, list_obstacles, render_configuration
from latebind.adopt.product import list_stub_commands, read_product
from latebind.adopt.programs import advise_programs, try_programs
from latebind.adopt.stubs import REBUILD, list_brought, list_unserved, try_stubs, warn_of_spaces
from latebind.adopt.torch import PORT_ADVICE, describe_oldest, describe_unstable
from latebind.backend.targets import host_rid, target
from latebind.backend.tree import is_generated, is_scratch
from latebind.config.file import FILE_NAME
from latebind.config.project import read_project
from latebind.errors import BuildError, InputError, ToolError
from latebind.native.builds import stage_targets
from latebind.system.log import LOG
from latebind.tables.presets import presets
from latebind.text import DOCS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.adopt.latebinding import Plan
    from latebind.adopt.ownbuild import Backend, Built
    from latebind.adopt.product import Product
    from latebind.tables.presets import RuntimePreset

_NO_RUNTIME = "links and contains no library that latebind knows"
_OWN = (f"for another library, describe it, and name the description, too (--preset FILE.toml): {DOCS}/howto/stub.md",)
_LACKS = (
    "those that are functions of {title}: list the library itself as functions of the stub, instead of its header; "
    "those of a library that it loads: link that, too; "
    f"those that are variables: include the header of variables in the files that use them: {DOCS}/howto/stub.md"
    "#what-cannot-be-bound-late"
)
_SHOWS = (
    "where it is missing, a function returns the value that its stub has for that, or ends the process; "
    f"a program can ask before its first call, and show what to install: {DOCS}/howto/stub.md#show-the-message"
)
_ENDS = (
    "where the library is missing, the module ends Python at a function for which the stub has no value, unless "
    f"PyInit_… asks first whether it is there, before any static object calls it: {DOCS}/howto/stub.md#show-the-message"
)
_OTHERS = {
    "CMakeLists.txt": "without-changing-a-line",
    "meson.build": "without-changing-a-line",
    "Cargo.toml": "cargo-and-maturin",
    "go.mod": "cgo",
    "MODULE.bazel": "bazel",
    "configure.ac": "without-changing-a-line",
    "configure": "without-changing-a-line",
    "Makefile": "without-changing-a-line",
}
"""The sections of the page with recipes, by the file at a project's top."""
_NO_PROJECT = ("Makefile", "configure")
"""What is in folders of any kind: at a project's top alone it says how that is built."""
_CANNOT = "cannot bind late as it is:"
_PROGRAMS = "only programs link it; packages hold shared libraries and modules, so there is no latebind.toml to write"
_RECIPES = f"{DOCS}/howto/other-builds.md"
_AGAIN = "without what was built before (make distclean, rm -r build, go build -a)"
_KEEP = f"to keep it in your sources: {_RECIPES}#the-stub-as-one-c-file"
_RUNS = "runs the project's own build in a temporary folder"
_DOWNLOAD = "To let the project download its dependencies: latebind adopt --download"
_ASKS = (
    "Install or set what CMake asks for, and run this again: it reads CMAKE_PREFIX_PATH and "
    "CMAKE_POLICY_VERSION_MINIMUM from the environment. Or build the project, and name what comes out: "
    "latebind adopt FILE"
)
_BUILT = "build the project, and name a library or program that comes out: latebind adopt FILE"
_BUILD = "for another library, build the project, and name a library or program that comes out: latebind adopt FILE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What a run found, a line each, and what it can write."""

    lines: tuple[str, ...]
    ends: tuple[str, ...] = ()
    """Lines that are printed last, whatever else there is to print."""
    plan: Change | None = None
    """What is certain; None if nothing is left, or nothing is certain."""
    applied: tuple[str, ...] = ()
    """What to do once the plan is written, in place of `ends`."""


def adopt(path: Path, *, may_download: bool, described: tuple[RuntimePreset, ...] = ()) -> Adoption:
    """Look at a project's folder or a package, for what latebind knows and `described`. Nothing is written there.

    Raises InputError for neither, BuildError where the project does not build as it is, and NotRun where its
    requirements cannot be installed.
    """
    root = path.resolve()
    if not root.exists():
        raise InputError("no such file or folder", where=str(path), advice="Name a project's folder or a package.")
    with TemporaryDirectory(prefix="latebind-adopt-") as folder:
        scratch = Path(folder).resolve()
        if (root / "pyproject.toml").is_file() or (root / "setup.py").is_file():
            LOG.say(_RUNS)
            return _adopt_tree(root, scratch, described, may_download=may_download)
        if (root / "CMakeLists.txt").is_file() and not described:
            LOG.say(f"{_RUNS}, CMake for at most {LIMIT / 60:.0f} minutes")
            found = _adopt_cmake(root, scratch, may_download=may_download)
            return replace(found, lines=(*found.lines, *_list_unread(root, "CMakeLists.txt")))
        if (root / BINDING).is_file():
            LOG.say(_RUNS)
            return _adopt_addon(root, scratch, described)
    section = next((section for file, section in _OTHERS.items() if (root / file).is_file()), "")
    product = read_product(path, described)
    if section and not product.contents.native:
        makes = "build it, and run this again, or name what comes out"
        if section == _OTHERS["go.mod"]:  # a package is no file
            makes = "build a program with it, and name that"
        elif described:  # its stub is a library to link, not a file to compile
            section = _OTHERS["CMakeLists.txt"]
        text = f"{root.name} makes no wheel itself: {makes}: {_call_adopt('FILE', described)}"
        return Adoption(lines=(text,), ends=(f"recipe: {_RECIPES}#{section}",))
    return _describe_package(path, product, described)


def _describe_package(path: Path, product: Product, described: tuple[RuntimePreset, ...]) -> Adoption:
    """What is known of a package, a folder or a library at hand."""
    name = path.resolve().name
    if path.is_dir() and not product.contents.native:
        text = f"{name} has no native file, and no build system that latebind asks: build it, and name the result"
        lines = (f"{text}: latebind adopt FILE", *_list_unread(path.resolve()))
        return Adoption(lines=lines, ends=(f"recipes: {_RECIPES}",))
    return _describe_product(product, name, described)


def _call_adopt(path: str, described: tuple[RuntimePreset, ...]) -> str:
    """The command for another file, with the descriptions that were named."""
    named = [word for runtime in described for word in ("--preset", runtime.stub_argument)]
    return shlex.join(["latebind", "adopt", *named, path])


def _describe_product(product: Product, name: str, described: tuple[RuntimePreset, ...] = ()) -> Adoption:
    """What is known of a package for which nothing is planned."""
    bound = (*(runtime.title for runtime in product.bound), *product.others_bound)
    static = list(product.list_static())
    lines = [*product.describe(), *(static or product.list_late())]
    variables = product.list_missing_variables()
    if bound and (product.undefined or variables):
        lines += [f"{product.name_file(finding)}: {finding.message}" for finding in product.undefined]
        told = {name for finding in product.undefined for name in finding.names}
        if more := [name for name in variables if name not in told]:
            lines.append(f"{name}: does not load, because nothing defines {', '.join(more)}")
        titles = [title for title in bound if title not in {runtime.title for runtime in presets().values()}]
        return Adoption(lines=tuple(lines), ends=(_LACKS.format(title=" or ".join(titles)),) if titles else ())
    operators = describe_operators(product)
    if operators and product.operators:
        return Adoption(lines=(*lines, *operators), ends=(advise_operators(),))
    if not lines:
        return _describe_others(product, name, described, operators)
    for runtime in (*product.runtimes, *product.bound) if product.contents.dist_info else ():
        if runtime.distribution:
            required = product.find_requirement(runtime)
            lines.append(f"METADATA: requires {required or f'no distribution of {runtime.title}'}")
    lines += describe_oldest(product)
    if unstable := [*describe_unstable(product)]:
        return Adoption(lines=(*lines, *unstable), ends=(PORT_ADVICE,))
    is_described = bool({runtime.name for runtime in product.bound} - {*presets()} or product.others_bound)
    shows = tuple(_warn(product, product.bound) or (_SHOWS,)) if is_described else ()
    if any(file.base == BINDING for file in product.contents.files):
        shows += (ELSEWHERE,)
    return Adoption(lines=tuple(lines), ends=_advise_stub(product) if product.findings else shows)


def _describe_others(
    product: Product, name: str, described: tuple[RuntimePreset, ...], operators: list[str]
) -> Adoption:
    """What a package has to do with libraries that latebind doesn't know, or nothing."""
    others = [f"{file or name}: links {', '.join(names)}" for file, names in product.linked.items()]
    if operators:
        return Adoption(lines=(*operators, *others))
    if not product.contents.native:
        return Adoption(lines=(f"{name} has no program, library or module",))
    made = [f"next: {_call_adopt(str(file), described)}" for file in product.built_with.values()]
    files = [file for runtime in described for file in runtime.list_files(target(host_rid()).system)]
    without = f"links none of these, and binds none late: {', '.join(files)}" if files else _NO_RUNTIME
    return Adoption(lines=(f"{name} {without}", *others), ends=tuple(made) or (() if described else _OWN))


def _warn(product: Product, runtimes: tuple[RuntimePreset, ...]) -> tuple[str, ...]:
    """What a product does without the libraries that it binds late: what loads them anyway, or how a module ends."""
    return tuple(list_brought(product, runtimes)) or ((_ENDS,) if product.has_module else ())


def _advise_stub(product: Product) -> tuple[str, ...]:
    """What to do with the build that made a package by hand."""
    if without := [runtime.title for runtime in product.runtimes if runtime.stub is None]:
        return (f"next: describe {' and '.join(without)} for a stub: {DOCS}/howto/stub.md",)
    return (
        f"next: {list_stub_commands(product.runtimes)}",
        *warn_of_spaces(Path.cwd()),
        *list_unserved(product),
        REBUILD if product.contents.dist_info else f"then configure and build all again {_AGAIN}",
        "not tried here: a folder that a build names with -L may be searched first",
        *_warn(product, product.runtimes),
        _KEEP,
    )


def _adopt_addon(root: Path, scratch: Path, described: tuple[RuntimePreset, ...]) -> Adoption:
    """Have npm build a project's add-ons, and try what makes them bind late."""
    addon = try_addon(root, scratch, described)
    found = [_describe_product(product, name) for name, product in addon.products.items()]
    lines = tuple(line for each in found for line in each.lines)
    brought = [line for product in addon.products.values() for line in list_brought(product, product.runtimes)]
    recipe = f"recipe: {_RECIPES}#node-gyp"
    ends = (*addon.tried, *brought, *addon.advice, recipe) if addon.tried else found[0].ends
    return Adoption(lines=(*lines, *_list_unread(root)), ends=ends)


def _adopt_tree(root: Path, scratch: Path, described: tuple[RuntimePreset, ...], *, may_download: bool) -> Adoption:
    """Build a project's wheel, have CMake configure what is beside it, and say which other builds were not read."""
    first = scratch / "first"
    backend = prepare_backend(root, copy_project(root, first / "project"), scratch)
    built = build_wheel(backend, first / "project", first)
    found = _adopt_wheel(root, scratch, backend, built, described)
    read = set(_list_read(built))
    if built.unwatched:
        unwatched = f"the build fails when it is asked what it does, so no line of it is named: {built.unwatched}"
        found = replace(found, lines=(*found.lines, unwatched))
    elif (root / "CMakeLists.txt").is_file() and "CMakeLists.txt" not in read and not described:
        read.add("CMakeLists.txt")
        found = _join(found, _adopt_beside(root, scratch / "beside", may_download=may_download))
    return replace(found, lines=(*found.lines, *_list_unread(root, *read)))


def _list_read(built: Built) -> Iterator[str]:
    """The files of build systems from which a project's wheel was built, besides Python's."""
    if built.targets and built.source.is_relative_to(built.root):
        yield (built.source.relative_to(built.root) / "CMakeLists.txt").as_posix()
    if built.meson:
        yield "meson.build"
    if built.crates:
        yield "Cargo.toml"


def _adopt_beside(root: Path, scratch: Path, *, may_download: bool) -> Adoption:
    """What CMake says of a project whose wheel does not need it."""
    scratch.mkdir()
    try:
        return _adopt_cmake(root, scratch, may_download=may_download)
    except (InputError, BuildError, ToolError) as error:
        return Adoption(lines=(f"CMakeLists.txt: {error.message}",), ends=tuple(filter(None, [error.advice])))


def _join(wheel: Adoption, beside: Adoption) -> Adoption:
    """What was found in a wheel and in what CMake builds beside it; one of them has a plan: the wheel's, if both do."""
    first, second = (wheel, beside) if wheel.plan or not beside.plan else (beside, wheel)
    return replace(first, lines=(*wheel.lines, *beside.lines), ends=(*second.ends, *first.ends))


def _list_unread(root: Path, *read: str) -> Iterator[str]:
    """A line on the files of build systems that were not read: those at the top, and those of folders below."""
    names = (*_OTHERS, "pyproject.toml", "setup.py")
    top = [name for name in names if (root / name).is_file()]
    below = [
        path.relative_to(root).as_posix()
        for name in names
        if name not in _NO_PROJECT
        for path in sorted(root.glob(f"*/{name}"))
        if name not in top and not is_scratch(path.parent.name) and not is_generated(path.parent)
    ]
    if others := [name for name in (*(name for name in top if name in _OTHERS), *below) if name not in read]:
        yield f"not looked at: {', '.join(others)}"


def _adopt_wheel(
    root: Path, scratch: Path, backend: Backend, built: Built, described: tuple[RuntimePreset, ...]
) -> Adoption:
    """Look at a project's wheel, and try what makes it bind late."""
    product = read_product(built.wheel, described)
    chosen = product.runtimes or product.bound
    if not chosen or chosen[0].name not in presets() or product.operators:
        found = _describe_product(product, built.wheel.name)
        if not product.runtimes or product.operators or any(runtime.stub is None for runtime in product.runtimes):
            return found
        is_late, lines = try_stubs(root, scratch / "stubbed", backend, product, described)
        return replace(found, ends=(*lines, *_warn(product, product.runtimes), _KEEP) if is_late else lines)
    plan = plan_changes(built, product, backend, chosen[0])
    facts = _list_facts(product, plan)
    if not plan.texts:
        return Adoption(lines=facts, ends=(_conclude(product, plan, built.wheel.name),))
    trial = try_plan(plan, root, backend, product, scratch / "second")
    if trial.obstacles:
        return Adoption(lines=(_CANNOT, *trial.obstacles))
    if trial.error:
        error = trial.error.splitlines()[-1].strip()
        return Adoption(lines=facts, ends=(f"a stub in its place does not build: {error}", f"by hand: {_RECIPES}"))
    tried = [f"tried: the new wheel {', '.join(trial.gained)}"] if trial.gained else []
    ends = (*tried, *(f"left: {line}" for line in trial.left))
    return Adoption(lines=(*facts, *plan.list_changes(root)), ends=ends, plan=plan, applied=ends)


def _list_facts(product: Product, plan: Plan) -> tuple[str, ...]:
    """What is wrong with the wheel, and what the project does that no change is certain for."""
    causes = [str(cause) for cause in plan.causes if cause.edit is None and product.findings]
    return tuple(line.replace("{title}", plan.runtime.title) for line in (*product.describe(), *causes))


def _conclude(product: Product, plan: Plan, wheel: str) -> str:
    """What a run says that has nothing to write."""
    title = plan.runtime.title
    if product.findings:
        return f"no change is certain: use the recipe for the build system: {_RECIPES}"
    if product.describe():
        return f"left: {wheel} binds {title} late, but opens a copy of it as well: remove that"
    if plan.requirement:
        return f"left: {wheel} requires no distribution of {title}: add {plan.requirement} to its dependencies"
    return f"done: {wheel} binds {title} late, and requires {product.find_requirement(plan.runtime) or 'nothing'}"


def _adopt_cmake(root: Path, scratch: Path, *, may_download: bool) -> Adoption:
    """Have CMake configure a project that makes no wheel itself, and plan its latebind.toml."""
    configured = configure(root, scratch, may_download=may_download)
    facts = tuple(list_facts(configured))
    if configured.error:
        advice = _DOWNLOAD if configured.downloads and not may_download else _ASKS
        cause = "\n".join([*facts, configured.error])
        raise InputError(f"CMake cannot configure the project:\n{cause}", where=str(root), advice=advice)
    if obstacles := tuple(list_obstacles(configured)):
        return Adoption(lines=(_CANNOT, *obstacles))
    if not configured.links:
        titles = ", ".join(runtime.title for runtime in presets().values() if runtime.stub)
        others = tuple(f"{place}: {target} links {title}" for place, target, title in configured.others)
        lines = others or (f"{root.name}: CMake links none of these: {titles}",)
        return Adoption(lines=lines, ends=(_BUILT if others else _BUILD,))
    if not any(link.kind in PACKED for link in configured.links):
        is_late, lines = try_programs(root, scratch / "trial", configured.links)
        ends = (*lines, *advise_programs(configured.links)) if is_late else (*lines, f"recipes: {_RECIPES}")
        return Adoption(lines=(*facts, _PROGRAMS), ends=ends)
    latebind = "latebind" if root == Path.cwd() else f"latebind -C {root}"
    pack = f"next: {latebind} pack"
    if (root / FILE_NAME).is_file():
        return Adoption(lines=facts, ends=("latebind.toml is there already", pack))
    text = render_configuration(configured)
    shown = [f"{FILE_NAME}: + {line}" for line in text.splitlines() if line and not line.startswith("#")]
    plan = Change(files={FILE_NAME: text.encode()})
    copy = copy_project(root, scratch / "trial/project")
    plan.write(copy)
    try:
        (stage,) = stage_targets(read_project(copy / FILE_NAME, scratch / "trial/work"), [host_rid()])
    except (BuildError, ToolError) as error:
        tried: tuple[str, ...] = (f"left: latebind build fails: {first_error(error.message).replace(f'{copy}/', '')}",)
    else:
        product = read_product(stage.root)
        if product.operators:
            lines = (*facts, *describe_operators(product))
            places = [link.place for link in configured.links]
            return Adoption(lines=lines, ends=(try_operators(copy, scratch), advise_operators(places)))
        tried = _describe_trial(product)
    if not configured.project["version"]:
        tried = (*tried, f"left: {FILE_NAME}: project() has no VERSION: write the version of your packages")
    return Adoption(lines=(*facts, *shown), ends=tried, plan=plan, applied=(*tried, pack))


def _describe_trial(product: Product) -> tuple[str, ...]:
    """What a copy of a project gives with its planned latebind.toml."""
    names = ", ".join(name.rpartition("/")[2] for name in product.exports)
    late = " and ".join(runtime.title for runtime in product.bound)
    tried = f"tried: latebind build makes {names}" + (f", which binds {late} late" if late else "")
    return (tried, *(f"left: {line}" for line in product.describe()))
