"""Makes the archive of native debug symbols of a target; the shipped libraries do not change.

The native project is built once more, in a tree of its own, with debug information that is kept. What a system loads
must then be the shipped library's, byte for byte, but for the id that the linker hashes from the whole file: the
shipped one's is written in its place, so that debuggers know the two belong together.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from latebind.backend.programs import which
from latebind.backend.stage import Stage
from latebind.backend.targets import target
from latebind.config.config import Config
from latebind.config.project import Project
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, Planning
from latebind.ecosystems.symbols.files import symbols_file
from latebind.ecosystems.symbols.loaded import Loaded, read_loaded, with_id
from latebind.errors import INPUT_ERRORS, NotRun
from latebind.native.builds import build_with_symbols
from latebind.system.archive import Entry, write_zip
from latebind.system.files import sha256
from latebind.system.run import run
from latebind.text import DOCS
from loadcheck.facts import SYMBOLS_MANIFEST

_REASON = "no-symbols"
_TIME_LIMIT = 600.0
_KEPT = ("Info.plist", "Resources/DWARF")
"""What debuggers read of a .dSYM bundle; newer versions of dsymutil add notes about the build."""


def _pack(project: Project, stage: Stage, outdir: Path) -> Path:
    """Write the archive of the symbols of a target's staged libraries into `outdir`; equal inputs give equal bytes.

    Raises NotRun `no-symbols` where no symbols can be had that match the staged libraries, with the reason; BuildError
    or ToolError when the native build fails.
    """
    config, dsymutil, folder = project.config, _separator(stage), project.workdir / "build"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{stage.rid}-symbols-", dir=folder) as aside:
        prefix = Path(aside)
        build_with_symbols(project, target(stage.rid), prefix)
        separated = [_separate_symbols(stage.root, library, prefix, dsymutil) for library in _libraries(config, stage)]
    manifest = {
        "project": config.project.name,
        "version": config.project.version,
        "rid": stage.rid,
        "toolchain": stage.manifest.toolchain,
        "libraries": [record for record, _ in separated],
    }
    text = json.dumps(manifest, indent=2) + "\n"
    path = outdir / symbols_file(config.project, stage.rid)
    files = dict.fromkeys(entry for _, entries in separated for entry in entries)  # two components may hold one library
    write_zip(path, [Entry(name=SYMBOLS_MANIFEST, data=text.encode()), *files])
    return path


def _separator(stage: Stage) -> Path | None:
    """dsymutil where debug information stays in the objects, None where it is in the library."""
    location = target(stage.rid).debug_symbols
    if location == "in the file":
        return None
    if location == "none":
        raise NotRun(
            _REASON,
            f"{stage.rid}: no symbols for Windows: when zig writes a .pdb, it keeps unused code, so the DLL would "
            "differ",
        )
    dsymutil = which("dsymutil")
    if dsymutil is None:
        raise NotRun(
            _REASON,
            f"{stage.rid}: dsymutil, which makes a .dSYM, is not on PATH",
            advice="Install it (macOS: xcode-select --install; Debian: apt install llvm) and pack again.",
        )
    return dsymutil


def _libraries(config: Config, stage: Stage) -> list[Path]:
    """The staged libraries of all components but those that are another machine's to build."""
    staged = {file.path.partition("/")[0] for file in stage.manifest.files}
    components = {package.component for package in config.packages.values()}
    return [library for component in sorted(staged & components) for library in stage.libraries(component)]


def _separate_symbols(
    root: Path, library: Path, prefix: Path, dsymutil: Path | None
) -> tuple[dict[str, str], list[Entry]]:
    """A row of the manifest, and the files that hold the symbols of a library, whose twin is below `prefix`."""
    inner = library.relative_to(root)
    twin = prefix / inner
    shipped = _match_twin(root.name, library, twin)
    name = f"{inner.parts[0]}/{library.name}"
    # Where gdb, debuginfod and distributions look for an ELF file's symbols, below a folder of debug files.
    by_id = f".build-id/{shipped.id.hex()[:2]}/{shipped.id.hex()[2:]}.debug"
    files = list(_bundle(dsymutil, twin, name)) if dsymutil else [Entry(name=by_id, data=twin.read_bytes())]
    symbols = next(entry for entry in files if entry.name.endswith((".debug", f"/{library.name}")))
    if not read_loaded(symbols.data, name).has_debug:
        raise NotRun(
            _REASON,
            f"{root.name}: {library.name} has no debug information when it is built with LATEBIND_SYMBOLS",
            advice="Remove -s from the library's link options, and call latebind_hardening() on its target.",
        )
    stamped = Entry(name=symbols.name, data=with_id(symbols.data, shipped.id, name))
    record = {"library": inner.as_posix(), "sha256": sha256(library), "id": shipped.id.hex(), "symbols": symbols.name}
    return record, [stamped if entry is symbols else entry for entry in files]


def _match_twin(rid: str, library: Path, twin: Path) -> Loaded:
    """What is loaded of a staged library. Raises NotRun when its twin with debug information is another library."""
    try:
        shipped, other = (read_loaded(path.read_bytes(), path.name) for path in (library, twin))
    except (*INPUT_ERRORS, OSError) as error:
        raise NotRun(_REASON, f"{rid}: symbols cannot be matched to the library: {error}") from error
    blocks = sorted({*shipped.blocks, *other.blocks})
    if differing := [block for block in blocks if shipped.blocks.get(block) != other.blocks.get(block)]:
        raise NotRun(
            _REASON,
            f"{rid}: {library.name} differs from the shipped library when it is built with debug information: "
            f"{', '.join(differing[:3])}",
            advice="Usual reasons are C++ compiled with zig, an imported stage, or different build options: "
            f"{DOCS}/symbols.md",
        )
    return shipped


def _bundle(dsymutil: Path, library: Path, name: str) -> Iterator[Entry]:
    """The files of the .dSYM of a library whose objects are still where it was linked."""
    bundle = library.with_name(f"{library.name}.dSYM")
    shutil.rmtree(bundle, ignore_errors=True)
    run([dsymutil, library, "-o", bundle], timeout=_TIME_LIMIT)
    root = bundle / "Contents"
    files = [path for part in _KEPT for path in sorted([root / part, *(root / part).rglob("*")]) if path.is_file()]
    for path in files:
        yield Entry(name=f"{name}.dSYM/{path.relative_to(bundle).as_posix()}", data=path.read_bytes())


def _plan(planning: Planning) -> list[PackageJob]:
    config = planning.config
    components = sorted({package.component for package in config.packages.values()})
    return [
        PackageJob(
            name=f"symbols {rid}",
            package=config.project.name,
            rids=(rid,),
            files={symbols_file(config.project, rid): tuple(f"stage/{rid}/{component}" for component in components)},
        )
        for rid in (planning.rids if config.document.native.symbols else ())
    ]


KINDS = (
    PackageKind(
        name="symbols",
        compiles=True,
        plan=_plan,
        make=lambda run, job: [_pack(run.project, run.stages_of(job)[0], run.dist)],
    ),
)
