"""The command line: parses arguments, calls one function, prints its result; decides nothing else.

Exit status of every command: 0 all well; 1 findings of severity error, or failed cells; 2 usage, configuration or
unusable input; 130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from latebind import __version__
from latebind.commands.common import add_machines, alone, chosen, configured, pack_all, stage_all
from latebind.commands.completion import SHELLS, complete
from latebind.commands.examples import epilog
from latebind.commands.init import declare_init
from latebind.commands.loader_source import declare_loader_source
from latebind.commands.release import declare_release
from latebind.commands.verify import declare_gate, declare_matrix, declare_verify
from latebind.errors import LatebindError
from latebind.log import LOG

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from latebind.audit.policy import Policy
    from latebind.build.stage import Stage
    from latebind.config import Config

INTERRUPTED, PIPE_CLOSED = 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    _write_utf8()
    arguments = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, _interrupt)  # a cancelled job is an interrupted one: nothing may go on behind it
    LOG.level = "verbose" if arguments.verbose else "quiet" if arguments.quiet else "normal"
    try:
        status: int = arguments.command(arguments)
    except LatebindError as error:
        sys.stdout.flush()
        print(f"latebind: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print("\nlatebind: interrupted; nothing was left half written", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:
        print(
            f"latebind: {error.strerror or error}: {error.filename or ''}\n  {_system_advice(error)}", file=sys.stderr
        )
        return 2
    else:
        return status


def _write_utf8() -> None:
    """Results are UTF-8 with LF everywhere, as the files are: ✓ has no other form in Windows' pipes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _system_advice(error: OSError) -> str:
    import errno  # noqa: PLC0415  # only on the way out

    if error.errno == errno.ENOSPC:
        return "The disk is full: free some room and run the command again; earlier output is untouched."
    return "Mend what the system says and run the command again; earlier output is untouched."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="latebind",
        description="Build native libraries without linking their runtime, package them, audit and verify the result.",
        epilog="Exit status: 0 all well, 1 findings or failed cells, 2 usage or unusable input, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"latebind {__version__}")
    parser.add_argument("--cmake-dir", action=_CMakeDir, nargs=0, help="print the folder of latebindConfig.cmake")
    parser.add_argument("-C", "--project", type=Path, default=Path(), metavar="DIR", help="folder of latebind.toml")
    parser.add_argument(
        "--workdir",
        type=Path,
        metavar="DIR",
        help="where build/, stage/, dist/, reports/ are made; by default the project's folder",
    )
    _add_levels(parser, default=False)
    everywhere = argparse.ArgumentParser(add_help=False)
    _add_levels(everywhere, default=argparse.SUPPRESS)  # after the command, too, without undoing one before it
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        raw = argparse.RawDescriptionHelpFormatter  # examples keep their lines
        command = commands.add_parser(
            name, help=text, description=text, parents=[everywhere], epilog=epilog(name), formatter_class=raw
        )
        command.set_defaults(command=run)
        return command

    declare_init(add)
    doctor = add("doctor", _doctor, "what this machine can build, run, and not run, and why")
    add_machines(doctor)
    plan = add("plan", _plan, "every file that would be made, from which input; runs nothing")
    build = add("build", alone(_build), "one native build for each target -> stage/<rid>/<component>/")
    stage = add("stage", alone(_stage), "what is staged; with --import, adds native files that were built elsewhere")
    stage.add_argument(
        "--import", dest="sources", type=Path, action="extend", nargs="+", default=[], metavar="PATH",
        help="a stage, a target's folder of one, a wheel that latebind's hook built, or a folder <component>/... ",
    )  # fmt: skip
    stage.add_argument("--target", default="", metavar="RID", help="the target of a folder that does not say it")
    pack = add("pack", alone(_pack), "stage -> wheels, sdists and nupkgs -> dist/")
    audit = add("audit", _audit, "inspect wheels, nupkgs, libraries or folders of anyone; runs nothing of them")
    audit.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="files or folders; by default dist/")
    formats = ("text", "json", "sarif", "junit", "markdown", "github")
    audit.add_argument("--format", choices=formats, default="text")
    audit.add_argument("--output", type=Path, metavar="FILE", help="write the report there, too, as JSON")
    audit.add_argument("--explain", metavar="CODE", help="say why a check is there, and what mends it; audit nothing")
    audit.add_argument(
        "--preset",
        action="append",
        metavar="NAME|FILE.toml",
        help="audit against this runtime alone: a preset, or one that a file describes; may be repeated",
    )
    verify = declare_verify(add)
    declare_gate(add)
    matrix = declare_matrix(add)
    declare_release(add)
    reproduce = add("reproduce", _reproduce, "pack twice under different circumstances and show where bytes differ")
    native = add("cibuildwheel", _cibuildwheel, "print the configuration with which cibuildwheel builds a package")
    native.add_argument("package", metavar="PACKAGE", help="a package of latebind.toml that has a wheel")
    native.add_argument(
        "--latebind", default=f"latebind[native]=={__version__}", metavar="REQUIREMENT", help="what brings latebind"
    )
    for command in (doctor, plan, stage, pack, reproduce):
        command.add_argument("--format", choices=("text", "json"), default="text")
    for command in (plan, build, pack, verify, reproduce):
        command.add_argument("--target", action="append", metavar="RID", help="by default this machine's")
    matrix.add_argument("--target", action="append", metavar="RID", help="by default all of the project's")
    declare_loader_source(add)
    completion = add("completion", lambda arguments: complete(parser, arguments.shell), "print a shell's completion")
    completion.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    return parser


def _add_levels(parser: argparse.ArgumentParser, *, default: object) -> None:
    parser.add_argument("-v", "--verbose", action="store_true", default=default, help="say more")
    parser.add_argument("-q", "--quiet", action="store_true", default=default, help="only results and errors")


class _CMakeDir(argparse.Action):
    def __call__(self, *_: object) -> None:
        from latebind.resources import cmake_dir  # noqa: PLC0415  # as all imports below: --help must be quick

        print(cmake_dir())
        sys.exit(0)


def _print_json(document: object) -> None:
    import json  # noqa: PLC0415

    print(json.dumps(document, indent=2))


def _doctor(arguments: argparse.Namespace) -> int:
    from latebind.doctor import examine  # noqa: PLC0415
    from latebind.verify.machine import machines, machines_folder  # noqa: PLC0415

    workdir = (arguments.workdir or arguments.project).resolve()
    rows = examine(machines(machines_folder(arguments.machines, workdir)))
    if arguments.format == "json":
        _print_json([asdict(row) for row in rows])
        return 0
    width = max(len(row.what) for row in rows)
    for row in rows:
        print(f"{'yes' if row.there else 'no ':3}  {row.what:{width}}  {row.detail}")
        if row.cure:
            print(f"     {'':{width}}  {row.cure}")
    return 0


def _plan(arguments: argparse.Namespace) -> int:
    from latebind.build.table import not_made  # noqa: PLC0415
    from latebind.plan import plan, refused  # noqa: PLC0415

    config, workdir = configured(arguments)
    rids = chosen(arguments, config)
    if arguments.format == "json":
        files = [asdict(row) for row in plan(config, rids)]
        _print_json({"files": files, "not_made": [asdict(row) for row in refused(config, rids)]})
        return 0
    for row in plan(config, rids):
        print(f"{workdir / 'dist' / row.file}\n    {row.kind} of {row.package}, from {', '.join(row.inputs)}")
    for missing in refused(config, rids):
        print(not_made(missing))
    return 0


def _build(arguments: argparse.Namespace) -> int:
    _, workdir, stages = stage_all(arguments)
    for stage in stages:
        _show_stage(stage, workdir)
    return 0


def _stage(arguments: argparse.Namespace) -> int:
    import msgspec  # noqa: PLC0415

    from latebind.build.imports import import_native  # noqa: PLC0415
    from latebind.build.stage import open_stage  # noqa: PLC0415
    from latebind.targets import targets  # noqa: PLC0415

    config, workdir = configured(arguments)
    if arguments.sources:
        import_native(config, arguments.sources, workdir, arguments.target)
    found = [staged for rid in targets() if (staged := open_stage(workdir / "stage" / rid)) is not None]
    if arguments.format == "json":
        _print_json([{"rid": staged.rid, **msgspec.to_builtins(staged.manifest)} for staged in found])
        return 0
    for staged in found:
        _show_stage(staged, workdir)
    return 0


def _show_stage(stage: Stage, workdir: Path) -> None:
    manifest = stage.manifest
    how = "imported, " if manifest.imported else ""
    print(f"{stage.root.relative_to(workdir)}  {how}{manifest.toolchain}  floor {manifest.floor or 'none'}")
    for file in manifest.files:
        print(f"  {file.path}  {file.size}  {file.sha256[:16]}")


def _pack(arguments: argparse.Namespace) -> int:
    from latebind.archive import write_text  # noqa: PLC0415
    from latebind.build.table import to_console, to_json, to_markdown  # noqa: PLC0415

    _, workdir, packed = pack_all(arguments)
    write_text(workdir / "reports" / "packages.json", to_json(packed))
    write_text(workdir / "reports" / "packages.md", to_markdown(packed))
    print(to_json(packed) if arguments.format == "json" else to_console(packed, "dist"), end="")
    return 0


def _audit(arguments: argparse.Namespace) -> int:
    from latebind.archive import write_text  # noqa: PLC0415
    from latebind.audit.audit import audit_paths  # noqa: PLC0415
    from latebind.audit.render import RENDERERS, to_json  # noqa: PLC0415

    if arguments.explain:
        from latebind.audit.pages import render_page  # noqa: PLC0415
        from latebind.audit.registry import explain  # noqa: PLC0415

        print(render_page(explain(arguments.explain)))
        return 0
    config, workdir = configured(arguments) if not arguments.paths else (None, Path())
    paths = arguments.paths or [workdir / "dist"]
    report = audit_paths(paths, _policy(arguments, config))
    print(RENDERERS[arguments.format](report), end="")
    if arguments.output:
        if arguments.output.is_dir():
            raise LatebindError("is a folder", where=str(arguments.output), advice="Name a file: --output FILE.")
        write_text(arguments.output, to_json(report))
    return report.exit_status


def _policy(arguments: argparse.Namespace, config: Config | None) -> Policy:
    """The project's own rules when it is named or its dist/ is audited; else those for packages of anybody."""
    from dataclasses import replace  # noqa: PLC0415

    from latebind.audit.policy import Policy, runtimes_named  # noqa: PLC0415
    from latebind.audit.project import project_policy  # noqa: PLC0415

    if config is None and arguments.project != Path():
        config, _ = configured(arguments)
    policy = project_policy(config) if config else Policy()
    return replace(policy, runtimes=runtimes_named(arguments.preset, Path())) if arguments.preset else policy


def _reproduce(arguments: argparse.Namespace) -> int:
    from latebind.reproduce import reproduce  # noqa: PLC0415

    config, _ = configured(arguments)
    result = reproduce(config, chosen(arguments, config))
    if arguments.format == "json":
        _print_json(asdict(result))
        return int(bool(result.differences) or not result.equal)
    for name in result.equal:
        print(f"equal  {name}")
    for row in result.differences:
        print(f"differ {row}")
    for circumstance in result.not_varied:
        print(f"not varied: {circumstance}")
    print(f"{len(result.equal)} equal, {len({row.file.partition('!')[0] for row in result.differences})} different")
    return int(bool(result.differences) or not result.equal)


def _cibuildwheel(arguments: argparse.Namespace) -> int:
    from latebind.build.cibuildwheel import cibuildwheel_config  # noqa: PLC0415

    config, _ = configured(arguments)
    print(cibuildwheel_config(config, arguments.package, arguments.latebind), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
