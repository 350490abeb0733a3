"""The command `stub`."""

from __future__ import annotations

import argparse
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import Add, add_format, add_target, new_folder, print_json
from latebind.errors import LatebindError, NotRun

if TYPE_CHECKING:
    from latebind.backend.targets import Target
    from latebind.backend.toolchain import Toolchain
    from latebind.config.runtime import RuntimeUse
    from latebind.native.stublibrary import InstalledHeaders, Stub, StubSource


def declare_stub(add: Add) -> None:
    """`latebind stub`."""
    command = add("stub", _stub, "make the static library that programs link instead of a runtime")
    command.add_argument(
        "runtime", metavar="RUNTIME|FILE.toml", help="preset of the runtime, or a file that describes one"
    )
    add_target(command)
    command.add_argument(
        "--output",
        type=new_folder,
        required=True,
        metavar="DIR",
        help="folder to write to; without --source, each target gets a subfolder, such as linux-x64",
    )
    command.add_argument(
        "--minimum", metavar="VERSION", help="oldest version to bind (default: that of the preset or file)"
    )
    command.add_argument(
        "--functions",
        action="append",
        default=[],
        metavar="FILE|NAME|PATTERN",
        help="functions of a described runtime: a library, .def file or header, a name, or a pattern; may be repeated",
    )
    command.add_argument(
        "--called-by",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="put in only what a program or library, linked with the described runtime, calls; may be repeated",
    )
    command.add_argument(
        "--headers", type=Path, metavar="DIR", help="folder of the official headers to install as well"
    )
    command.add_argument(
        "--source", action="store_true", help="write one file in C99 and a header instead, for GCC and clang"
    )
    command.add_argument(
        "--export",
        action="store_true",
        help='print what a shell evaluates for builds to link the stub: eval "$(latebind stub ... --export)"',
    )
    add_format(command)


def _stub(arguments: argparse.Namespace) -> int:
    from latebind.native.stubplaces import export_places
    from latebind.system.parallel import each

    output: Path = arguments.output.resolve()
    if arguments.source and arguments.headers:
        advice = "Leave --headers out, and name the folder of the headers to the compiler: -I FOLDER."
        raise LatebindError("--headers goes into the folders of static libraries, not next to sources", advice=advice)
    targets = _targets(arguments)
    if arguments.export and (arguments.source or len(targets) > 1):
        advice = "Leave --export out; it is for the static library of one target."
        raise LatebindError("--export names one folder to builds", advice=advice)
    source = _source(arguments, targets)
    if arguments.source:
        paths = _write_sources(source, output)
    else:
        stubs = _stubs(arguments, source, targets)
        each(lambda stub: stub.make(output / stub.target.rid), stubs)
        paths = [output / stub.target.rid for stub in stubs]
    if arguments.export:
        print(export_places(paths[0]))
    elif arguments.format == "json":
        print_json({"paths": [str(path) for path in paths]})
    else:
        print("\n".join(map(str, paths)))
    return 0


def _write_sources(source: StubSource, output: Path) -> list[Path]:
    """Write the stub as sources and return the files."""
    from latebind.backend.files import write_changed
    from latebind.native.amalgamation import amalgamation
    from latebind.system.resources import cmake_dir

    return write_changed(amalgamation(cmake_dir(), source), output)


def _targets(arguments: argparse.Namespace) -> list[Target]:
    from latebind.backend.targets import host_rid, target, targets

    names = arguments.target or [host_rid()]
    return [target(name) for name in (targets() if "all" in names else dict.fromkeys(names))]


def _source(arguments: argparse.Namespace, targets: Sequence[Target]) -> StubSource:
    """What the stub is made of; prints what cannot be in it. Raises LatebindError for a runtime without a stub."""
    from latebind.config.file import load_described
    from latebind.native.functions import list_called
    from latebind.native.stublibrary import stub_source
    from latebind.system.log import LOG
    from latebind.tables.presets import library_files

    known = library_files().get(arguments.runtime)
    if known or arguments.runtime.endswith(".toml"):
        file = known or Path(arguments.runtime).resolve()
        # Paths on the command line are relative to the current folder, paths in the file to the file's folder.
        functions = [
            str(Path(function).resolve()) if Path(function).is_file() else function for function in arguments.functions
        ]
        systems = {target.system for target in targets}
        runtime, folder = load_described(file, systems, arguments.minimum or "", functions), file.parent
    else:
        runtime, folder = _preset(arguments), Path()
    called = list_called(arguments.called_by) if arguments.called_by else None
    source, notes = stub_source(runtime, folder, called)
    for note in notes:
        LOG.say(note)
    return source


def _preset(arguments: argparse.Namespace) -> RuntimeUse:
    """The runtime, with the oldest version to bind."""
    from latebind.config.described import RUNTIME_VERSION
    from latebind.config.runtime import RuntimeUse
    from latebind.tables.presets import preset

    runtime = preset(arguments.runtime)
    if arguments.functions:
        text = f"latebind already knows the functions of {runtime.title}"
        raise LatebindError(text, advice="Leave --functions out; it is for a runtime that a file describes.")
    if arguments.called_by:
        text = f"the stub of {runtime.title} always has all functions"
        raise LatebindError(text, advice="Leave --called-by out; it is for a runtime that a file describes.")
    minimum = arguments.minimum or runtime.floor
    if not RUNTIME_VERSION.match(minimum):
        raise LatebindError(f"{minimum!r} is not a version", advice="Write it as 1.19 or 1.19.2.")
    return RuntimeUse(preset=runtime.name, minimum=minimum, drop_in=True)


def _ask_pkg_config(source: StubSource, output: Path) -> dict[str, InstalledHeaders]:
    """What this machine's pkg-config knows of a library's headers, by each name that it has for the library.

    A stub in `output` is not asked.
    """
    from latebind.config.described import link_name
    from latebind.native.stublibrary import InstalledHeaders
    from latebind.system.parallel import each
    from latebind.system.run import run

    program = shutil.which("pkg-config")
    if program is None:
        return {}
    given = os.environ.get("PKG_CONFIG_PATH", "").split(os.pathsep)
    others = [folder for folder in given if folder and not Path(folder).resolve().is_relative_to(output)]
    env = {**os.environ, "PKG_CONFIG_PATH": os.pathsep.join(others)}

    def ask(question: str, name: str) -> str | None:
        ended = run([program, question, name], env=env, timeout=60, check=False)
        return ended.output.strip() if ended.returncode == 0 else None

    folders = [*others, *(ask("--variable=pc_path", "pkg-config") or "").split(os.pathsep)]
    files = [file for folder in folders if folder for file in sorted(Path(folder).glob("*.pc"))]
    linked = {file.stem: _list_linked(file) for file in reversed(files)}
    # By the library's name for the linker, which a distribution may have as a link to another: -lpng, -lpng16.
    ours = {f"-l{name}" for name in (source.names.library, *map(link_name, source.runtime.names.linux))}
    found = {}
    for name in sorted(
        {source.names.pkg_config_name, *(name for name, words in linked.items() if {*words[:1]} & ours)}
    ):
        if (flags := ask("--cflags", name)) is not None:
            keys = sorted((ask("--print-variables", name) or "").split())
            values = each(partial(ask, name=name), [f"--variable={key}" for key in keys])
            found[name] = InstalledHeaders(
                flags=flags,
                version=ask("--modversion", name) or "",
                variables=tuple((key, value or "") for key, value in zip(keys, values, strict=True)),
                others=tuple(word for word in linked.get(name, ()) if word not in ours),
                requires=tuple((ask("--print-requires", name) or "").splitlines()),
            )
    return found


def _read_linker_script(source: StubSource) -> tuple[str, ...]:
    """The further libraries that a linker takes for this one on Linux: Debian's libncursesw.so says -ltinfo, too."""
    from latebind.system.run import run

    compiler, name = shutil.which("cc"), f"lib{source.names.library}.so"
    if compiler is None or not source.runtime.names.linux:
        return ()
    file = Path(run([compiler, f"-print-file-name={name}"], timeout=60, check=False).output.strip())
    if not file.is_absolute() or not file.is_file() or file.read_bytes()[:4] == b"\x7fELF":
        return ()
    inputs = re.findall(r"\b(?:INPUT|GROUP)\b(.*)", file.read_text("utf-8", "replace"))
    words = [word for line in inputs for word in re.split(r"[\s,()]+", line)]
    return tuple(dict.fromkeys(word for word in words if word.startswith("-l") and word != f"-l{source.names.library}"))


def _list_linked(file: Path) -> list[str]:
    """The libraries that a file of pkg-config's gives, its own first: -lmemcached -lmemcachedutil."""
    given = re.findall(r"^Libs:(.*)$", file.read_text("utf-8", "replace"), re.MULTILINE)
    return [word for line in given for word in line.split() if word.startswith("-l")]


def _choose_compiler(target: Target) -> Toolchain:
    """zig, or the machine's own compiler for this machine where zig is not installed. Raises NotRun without both."""
    from latebind.backend.targets import host_rid
    from latebind.backend.toolchain import toolchain
    from latebind.backend.zig import find_zig

    if target.rid == host_rid() and find_zig() is None:
        with suppress(NotRun):
            return toolchain("host", target)
    return toolchain("zig", target)


def _stubs(arguments: argparse.Namespace, source: StubSource, targets: Sequence[Target]) -> list[Stub]:
    """One stub for each target. Raises LatebindError for missing headers, NotRun without a compiler."""
    from latebind.backend.targets import host_rid
    from latebind.backend.zig import find_zig
    from latebind.native.stublibrary import Stub
    from latebind.system.resources import cmake_dir

    headers = arguments.headers and arguments.headers.resolve()
    if headers and not list(headers.rglob("*.h")):
        raise LatebindError("contains no header", where=str(headers), advice="Name the folder of the official headers.")
    asks = not headers and any(target.rid == host_rid() for target in targets)
    installed = _ask_pkg_config(source, arguments.output.resolve()) if asks else {}
    scripted = _read_linker_script(source) if any(target.rid == host_rid() for target in targets) else ()
    return [
        Stub(
            source=source,
            installed=installed if target.rid == host_rid() else {},
            scripted=scripted if target.rid == host_rid() else (),
            target=target,
            floor=target.floor,
            toolchain=_choose_compiler(target),
            loader=cmake_dir(),
            headers=headers,
            visual_cpp=find_zig(),
        )
        for target in targets
    ]
