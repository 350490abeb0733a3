"""The commands `plan`, `build`, `stage`, `pack`, `reproduce` and `cibuildwheel`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import (
    Add,
    add_format,
    add_target,
    lock_project,
    open_project,
    print_json,
)

if TYPE_CHECKING:
    from latebind.backend.stage import Stage
    from latebind.config.project import Project


def declare_plan(add: Add) -> None:
    """`latebind plan`."""
    plan = add("plan", _plan, "list every file that pack would make, and what it is made from; runs nothing")
    add_format(plan)
    add_target(plan)


def declare_build(add: Add) -> None:
    """`latebind build`."""
    build = add("build", lock_project(_build), "compile the native code for each target, into stage/")
    add_format(build)
    add_target(build)


def declare_stage(add: Add) -> None:
    """`latebind stage`."""
    stage = add(
        "stage", lock_project(_stage), "list what is built; --import adds native files that were built elsewhere"
    )
    stage.add_argument(
        "--import", dest="sources", type=Path, action="extend", nargs="+", default=[], metavar="PATH",
        help="library, wheel with native files, folder <component>/..., or a stage of another machine",
    )  # fmt: skip
    text = "import and list this target only; required to import a folder of files"
    stage.add_argument("--target", default="", metavar="RID", help=text)
    add_format(stage)


def declare_pack(add: Add) -> None:
    """`latebind pack`."""
    pack = add("pack", lock_project(_pack), "make all packages of the project in dist/; builds what changed")
    add_format(pack)
    add_target(pack)


def declare_reproduce(add: Add) -> None:
    """`latebind reproduce`."""
    reproduce = add(
        "reproduce",
        _reproduce,
        "pack twice, in different folders, at different times and in different locales, and compare the bytes",
    )
    add_format(reproduce)
    add_target(reproduce)


def declare_cibuildwheel(add: Add) -> None:
    """`latebind cibuildwheel`."""
    native = add("cibuildwheel", _cibuildwheel, "print a configuration for cibuildwheel")
    native.add_argument("package", metavar="PACKAGE", help="name of a package in latebind.toml that has a wheel")
    native.add_argument(
        "--latebind",
        action="append",
        metavar="REQUIREMENT",
        help="requirement that installs latebind; may be repeated (default: this latebind)",
    )


def _plan(arguments: argparse.Namespace) -> int:
    from latebind.native.sources import list_unnamed_components
    from latebind.pack.planned import plan_packages
    from latebind.pack.render import not_made
    from latebind.preconditions import refuse_missing
    from latebind.system.log import LOG
    from latebind.verify.cases.scenarios import refuse_unknown_scenarios

    project = open_project(arguments)
    config = project.config
    rids, verify = config.choose_targets(arguments.target), config.document.verify
    refuse_missing(config.file, config.list_sources() | verify.list_scripts(), config.list_folders())
    refuse_unknown_scenarios(verify.own, config.file.name)
    plan = plan_packages(config, rids)
    for name, component in list_unnamed_components(project).items():
        LOG.say(
            f"note: {config.file.name}: package.{name}.component: no CMake file names {component}\n"
            f"  help: latebind pack fails if no install() rule has COMPONENT {component}"
        )
    if arguments.format == "json":
        print_json({"files": list(map(asdict, plan.files)), "not_made": list(map(asdict, plan.not_made))})
        return 0
    for planned in plan.files:
        print(f"dist/{planned.file}")
        print(f"    {planned.kind} of {planned.package}, from {', '.join(planned.inputs)}")
    for missing in plan.not_made:
        print(not_made(missing))
    return 0


def _build(arguments: argparse.Namespace, project: Project) -> int:
    from latebind.native.builds import stage_targets

    stages = stage_targets(project, project.config.choose_targets(arguments.target))
    return _show_stages(stages, project.workdir, arguments.format)


def _stage(arguments: argparse.Namespace, project: Project) -> int:
    from latebind.backend.stage import open_stage
    from latebind.backend.targets import target, targets
    from latebind.native.imports import import_native

    workdir = project.workdir
    if arguments.sources:
        import_native(project, arguments.sources, arguments.target)
    rids = [target(arguments.target).rid] if arguments.target else targets()
    stages = [staged for rid in rids if (staged := open_stage(workdir / "stage" / rid)) is not None]
    return _show_stages(stages, workdir, arguments.format)


def _show_stages(stages: Sequence[Stage], workdir: Path, form: str) -> int:
    import msgspec

    from latebind.system.log import LOG
    from latebind.text import printable

    if form == "json":
        print_json([{"rid": stage.rid, **msgspec.to_builtins(stage.manifest)} for stage in stages])
        return 0
    if not stages:
        LOG.say("nothing is built yet\n  To build: latebind build")
    for stage in stages:
        manifest = stage.manifest
        how = "imported, " if manifest.imported else ""
        folder, floor = stage.root.relative_to(workdir), manifest.floor or "none"
        print(printable(f"{folder}  {how}{manifest.toolchain}  floor {floor}"))  # may be another machine's words
        for file in manifest.files:
            print(f"  {file.path}  {file.size}  {file.sha256[:16]}")
    return 0


def _pack(arguments: argparse.Namespace, project: Project) -> int:
    from latebind.backend.files import write_text
    from latebind.pack.make import pack
    from latebind.pack.render import to_console, to_json, to_markdown

    packed = pack(project, project.config.choose_targets(arguments.target))
    write_text(project.reports / "packages.json", to_json(packed))
    write_text(project.reports / "packages.md", to_markdown(packed))
    print(to_json(packed) if arguments.format == "json" else to_console(packed, "dist"), end="")
    return 0


def _reproduce(arguments: argparse.Namespace) -> int:
    from latebind.reproduce import reproduce

    project = open_project(arguments)
    result = reproduce(project, project.config.choose_targets(arguments.target))
    if arguments.format == "json":
        print_json(asdict(result))
        return int(bool(result.differences) or not result.equal)
    for name in result.equal:
        print(f"equal  {name}")
    for difference in result.differences:
        print(f"differ {difference}")
    for circumstance in result.not_varied:
        print(f"not varied: {circumstance}")
    different = {difference.file.partition("!")[0] for difference in result.differences}
    print(f"{len(result.equal)} equal, {len(different)} different")
    return int(bool(result.differences) or not result.equal)


def _cibuildwheel(arguments: argparse.Namespace) -> int:
    from latebind.ecosystems.wheel.cibuildwheel import cibuildwheel_config
    from latebind.installation import list_requirements

    latebind = arguments.latebind or list_requirements("native")
    print(cibuildwheel_config(open_project(arguments).config, arguments.package, *latebind), end="")
    return 0
