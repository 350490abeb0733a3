"""The command `init`: shows what would be written, asks, and writes it."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from latebind.errors import InputError, LatebindError
from loadcheck.text import DOCS, plural, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from latebind.adopt.change import Change
    from latebind.adopt.external import ExternalProject
    from latebind.adopt.find import Found
    from latebind.adopt.plan import Plan
    from latebind.commands.common import Add

_DONE = "nothing to do: the project already binds its runtime late"
_BY_HAND = "no more files to write: do the steps above by hand"
_BLOCKED = "nothing can be written yet: do the steps above by hand, then run this again"
_OPTION = (
    "note: latebind only reads the text of the project, because with its default options CMake makes no library that "
    "links a runtime. If the project has an option that adds such a library, set it below [native] in "
    "latebind.toml: define = { NAME = true }"
)
_WITHOUT = (
    "note: CMake configured the project without its downloads ({names}), which `latebind build` needs. Name an archive "
    "of each in [native.sources], or let CMake download them, as `latebind init --download` does"
)
_OPENED = (
    "note: latebind only reads the text of the project, because CMake makes no library here that links a runtime. "
    "{file} opens {title} itself: such code needs no stub. To use the stub instead, call the runtime's functions "
    "directly, and link the runtime"
)
_CALLED = {
    "RegisterCustomOps": "Copy latebind.toml from https://github.com/latebind/latebind/tree/main/examples/custom-op",
    "CreateEpFactories": f"Write a latebind.toml as {DOCS}/howto/ep.md describes",
}
_LONGEST = 100
"""Lines of a new file that is shown without --verbose."""
_HEADERS = "If CMake lacks the headers of the runtime, get them and run this again:"
_NOT_LINKED = (
    "  If your code opens a runtime with dlopen(), there is nothing to change.\n"
    "  To link the stub: latebind stub RUNTIME --output stubs. For a new project: latebind new NAME"
)
_UNKNOWN = (
    "nothing to change: no target_link_libraries() links a runtime by name, by file or by variable\n"
    "  If your project links a runtime in another way, call latebind_add_runtime(TARGET RUNTIME), and write a "
    "latebind.toml.\n"
    "  For a new project: latebind new NAME"
)


def declare_init(add: Add) -> None:
    """`latebind init`."""
    init = add("init", _init, "make a project bind its runtime late: show the changes, ask, write them")
    init.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="the project (default: this folder)")
    init.add_argument("--yes", action="store_true", help="write new files without asking")
    init.add_argument("--dry-run", action="store_true", help="show the changes and write nothing")
    init.add_argument(
        "--apply",
        action="store_true",
        help="also change existing files: CMake, pyproject.toml, latebind.toml, .gitignore",
    )
    init.add_argument("--download", action="store_true", help="let CMake download the project's dependencies")
    init.add_argument(
        "--no-configure", action="store_true", help="only read the CMake files, and do not run CMake on them"
    )


def _init(arguments: argparse.Namespace) -> int:
    from latebind.adopt.configuration import list_missing_files
    from latebind.adopt.external import find_external
    from latebind.adopt.facts import facts
    from latebind.adopt.find import find
    from latebind.adopt.plan import plan

    if arguments.yes and arguments.dry_run:
        raise LatebindError("--yes would have no effect with --dry-run", advice="Leave one of them out.")
    root = (arguments.folder or arguments.project).resolve()
    if not root.is_dir():
        raise InputError("is not a folder", where=str(root), advice="Name the project's folder: latebind init FOLDER.")
    if (external := find_external(root)) is not None:
        return _init_external(arguments, external)
    discovery = find(root)
    if (discovery.mentions or discovery.has_operators) and not arguments.no_configure:
        discovery = _ask_cmake(discovery, may_download=arguments.download)
    _audit_present(root)
    _say(discovery)
    planned = plan(discovery, facts(discovery))
    missing = list_missing_files(root, {change.path for change in planned.changes})
    planned = replace(planned, notes=(*planned.notes, *missing))
    latebind = _shown_command(arguments)
    steps = [f"{latebind} {command}" for command in ("pack", "audit", "verify")]
    if planned.changes:
        _write_changes(arguments, planned, root, steps)
    else:
        _print_notes(planned)
        _print_plain(_describe_end(discovery, planned))
        if discovery.is_adopted and planned.notes:
            _print_steps(steps)
    return 0


def _init_external(arguments: argparse.Namespace, project: ExternalProject) -> int:
    """The same for a project that another build system builds."""
    from latebind.adopt.external import list_steps, plan_external, to_found
    from latebind.adopt.facts import facts

    root = project.root
    _audit_present(root)
    for file, line, runtime in project.mentions:
        _print_plain(f"{file.relative_to(root).as_posix()}:{line}: names {runtime}")
    if not project.runtimes:
        _print_plain(f"{project.system.title}: its files name no runtime that latebind knows\n{_NOT_LINKED}")
        return 0
    steps = list_steps(project, _shown_command(arguments))
    planned = plan_external(project, facts(to_found(project)))
    if planned.changes:
        _write_changes(arguments, planned, root, steps)
    else:
        _print_notes(planned)
        _print_steps(steps)
    return 0


def _write_changes(arguments: argparse.Namespace, planned: Plan, root: Path, steps: Sequence[str]) -> None:
    """Show the changes, write those that the user agrees to, and print the next command, or these steps."""
    from latebind.adopt.write import write

    for change in planned.changes:
        _print_plain(_show(change, root))
    _print_notes(planned)
    own_changes = [change for change in planned.changes if change.is_own]
    chosen = [change for change in planned.changes if arguments.apply or not change.is_own]
    apply = "--apply --yes" if arguments.yes else "--apply"
    applying = f"{apply}  # changes {plural(len(own_changes), 'existing file')} as shown"
    folder = arguments.folder or arguments.project
    init = "latebind init" if folder.resolve() == Path.cwd() else shlex.join(["latebind", "init", str(folder)])
    if not chosen:
        _print_steps([f"{init} {applying}"])
    elif _confirm(arguments, chosen):
        for path in write(chosen):
            _print_plain(f"written: {path.relative_to(root).as_posix()}")
        is_left = bool(own_changes) and not arguments.apply
        _print_steps([f"{init} {applying}"] if is_left else steps)
    else:
        _print_plain("nothing was written")
        _print_steps([f"{init} {'--apply ' if arguments.apply else ''}--yes"])


def _print_notes(planned: Plan) -> None:
    for note in planned.notes:
        _print_plain(f"by hand: {note}")


def _print_steps(steps: Sequence[str]) -> None:
    for step in steps:
        _print_plain(f"next: {step}")


def _show(change: Change, root: Path) -> str:
    """A change as a diff; a long new file as one line, unless the user asks for details."""
    from latebind.adopt.write import render_diff
    from latebind.system.log import LOG

    lines = change.after.count("\n")
    if change.is_own or lines <= _LONGEST or LOG.level == "verbose":
        return render_diff(change, root)
    return (
        f"new file: {change.path.relative_to(root).as_posix()} ({plural(lines, 'line')}; latebind -v init shows them)\n"
    )


def _ask_cmake(discovery: Found, *, may_download: bool) -> Found:
    """What CMake knows about the project; where it cannot configure it, what the text says."""
    from latebind.adopt.configure import UnconfiguredError, configure
    from latebind.adopt.narrow import leave_out_passed, narrow
    from latebind.tables.presets import preset

    try:
        with TemporaryDirectory() as scratch:
            project = configure(discovery, Path(scratch).resolve(), may_download=may_download)
    except LatebindError as error:
        _print_plain(f"note: latebind only reads the text of the project, because CMake cannot configure it: {error}")
        runtime = next((name for name in discovery.runtimes if preset(name).headers), "")
        if runtime and not discovery.header:
            _print_plain(f"  {_HEADERS} latebind headers {runtime} --output third_party/{runtime}")
        return leave_out_passed(discovery, error.calls if isinstance(error, UnconfiguredError) else {})
    if project.absent:
        _print_plain(_WITHOUT.format(names=", ".join(project.absent)))
    if discovery.libraries and not project.libraries:
        opening = _locate_opening(discovery)
        _print_plain(_OPENED.format(file=opening[0], title=opening[1]) if opening else _OPTION)
        return discovery
    return narrow(discovery, project)


def _describe_end(discovery: Found, planned: Plan) -> str:
    """What to print where no file changes: all is done, a person has to go on, or there is no runtime."""
    if not discovery.is_adopted and not discovery.runtimes:
        return _describe_called(discovery) or _describe_opened(discovery) or _UNKNOWN
    if not discovery.is_adopted:
        return _BLOCKED
    return _BY_HAND if planned.notes else _DONE


def _shown_command(arguments: argparse.Namespace) -> str:
    """How the user calls latebind for this project: with -C unless it is the current folder."""
    folder = arguments.folder or arguments.project
    return "latebind" if folder.resolve() == Path.cwd() else shlex.join(["latebind", "-C", str(folder)])


def _describe_called(discovery: Found) -> str:
    """What to do with a library that ONNX Runtime opens and calls; "" if the project has none."""
    if not discovery.called:
        return ""
    return (
        f"{_name_called(discovery)}, so no target has to link the runtime\n"
        "nothing to change in the code: a package needs a latebind.toml and an install() with COMPONENT\n"
        f"  {_CALLED[discovery.called[0][1]]}, and write your component's name there."
    )


def _describe_opened(discovery: Found) -> str:
    """What to do with code that opens a runtime itself; "" if the project has none."""
    opening = _locate_opening(discovery)
    if opening is None:
        return ""
    file, title = opening
    return (
        f"{file}: opens {title} itself, so no target has to link it\n"
        "nothing to change in the code: a package needs a latebind.toml and an install() with COMPONENT\n"
        "  To use the stub instead, call the runtime's functions directly, link the runtime, and run this again."
    )


def _locate_opening(discovery: Found) -> tuple[str, str] | None:
    """The first file whose code opens a runtime itself, and the title of that runtime."""
    from latebind.tables.presets import preset

    if not discovery.opening:
        return None
    path, runtime = discovery.opening[0]
    return path.relative_to(discovery.root).as_posix(), preset(runtime).title


def _name_called(discovery: Found) -> str:
    path, name = discovery.called[0]
    return f"{path.relative_to(discovery.root).as_posix()}: defines {name}(), which ONNX Runtime calls"


def _confirm(arguments: argparse.Namespace, chosen: list[Change]) -> bool:
    if arguments.yes or arguments.dry_run:
        return bool(arguments.yes)
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        return False
    return input(f"write {plural(len(chosen), 'file')}? [y/N] ").strip().lower() in ("y", "yes")


def _say(discovery: Found) -> None:
    for mention in discovery.of("link"):
        location = f"{mention.file.relative_to(discovery.root).as_posix()}:{mention.command.line}"
        _print_plain(f"{location}: {mention.target or 'every target'} links {mention.runtime}")
    if discovery.has_operators and discovery.libraries:
        _print_plain(f"{_name_called(discovery)}, so no target links the runtime")
    elif not discovery.runtimes:
        _print_plain("no target links a runtime that latebind knows")


def _audit_present(root: Path) -> None:
    """Audit the packages that are there, before anything else."""
    from loadcheck.audit import audit_paths
    from loadcheck.engine.choice import Choice
    from loadcheck.engine.policy import Policy
    from loadcheck.reports.console import audit_text

    present = [folder for name in ("dist", "wheelhouse") if (folder := root / name).is_dir() and any(folder.iterdir())]
    if present:
        _print_plain(f"your current packages in {', '.join(folder.name for folder in present)}:")
        _print_plain(audit_text(audit_paths(present, Policy(choice=Choice(profile="runtime")))))


def _print_plain(text: str) -> None:
    """Print what may hold names of an untrusted project."""
    print(printable(text))
