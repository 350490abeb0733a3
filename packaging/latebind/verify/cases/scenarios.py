"""The table of scenarios: each row says everything about one way in which a package is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from latebind.config.reader import nearest
from latebind.errors import ConfigError, LatebindError
from latebind.tables.presets import SYSTEMS
from latebind.verify.cases import situations as given
from latebind.verify.declared import DOTNET, ORDINARY, PYTHON, Scenario, SetUp, Situation
from loadcheck import System

if TYPE_CHECKING:
    from latebind.config.verification import VerifyOwn

LOADER, NPM_LOADER = "c-loader", "c-loader-npm"
"""A program of latebind's own in C that loads each native library of the wheels, or of npm's packages."""
C_NUPKG = "c-nupkg"
"""A C program that takes header and library out of the nupkgs."""
PIP = "pip"
"""pip, which builds wheels from sdists."""
CMAKE, PKG_CONFIG = "sdk-cmake", "sdk-pkg-config"
"""A program in C or C++ that CMake or pkg-config finds an unpacked SDK archive for."""
IN_C = (C_NUPKG, CMAKE)
"""Programs of the project that are built here for other machines, which need no Python for them."""
_UNIX: tuple[System, ...] = ("linux", "macos")


def _ok(name: str, title: str, set_up: SetUp | Situation = ORDINARY, **fields: object) -> Scenario:
    """A scenario in which the package works."""
    return Scenario(name=name, title=title, set_up=set_up, **fields)  # type: ignore[arg-type]  # Scenario checks them


def _refuses(
    name: str, title: str, set_up: SetUp | Situation, *says: str, newer: bool = True, **fields: object
) -> Scenario:
    """A scenario in which loading fails, with a message that holds `says`; `newer` adds how to get a good runtime."""
    more = ("version {minimum} or newer", "{fix}") if newer else ()
    return _ok(name, title, set_up, says=(*says, *more), required="where it is tried", **fields)


_PYTHON = {"consumers": (PYTHON,)}
_RARE = {**_PYTHON, "emulated": False, "rare": True}
_APPLICATIONS = (PYTHON, DOTNET, "applications")
"""The usual consumer of each ecosystem that installs a runtime for applications."""
_ALL = (*_APPLICATIONS, CMAKE)
"""The usual consumer of each kind of package."""

SCENARIOS: tuple[Scenario, ...] = (
    _ok("works", "loads and computes what is expected", versions="all", required="for every target",
        without_runtime=True, provider=True, widened=True, loads_alone=True, consumers=_APPLICATIONS),
    _ok("consumed", "loads and computes a sample in each kind of application that uses packages",
        consumers=("dotnet layouts", C_NUPKG, CMAKE, PKG_CONFIG, "layouts"),
        without_runtime=True, provider=True, required="in place of others", in_c=SYSTEMS),
    _ok("files", "an application for the target gets the target's files and no others", versions="none",
        computes=False, consumers=("files",), without_runtime=True, provider=True),
    _ok("loads-in-c", "a program in C loads each library, finds the names that it exports, and unloads it, twice",
        versions="none", computes=False, consumers=(LOADER, NPM_LOADER), glue=True, without_runtime=True,
        provider=True),
    _ok("from-sdist", "pip builds the wheel in an environment without latebind, where it is imported", versions="none",
        computes=False, consumers=(PIP,), of_sources=True, slow=True),
    # How it is installed.
    _ok("extra", "installed by name, with its extra if it has one, as a user would install it",
        Situation(by_name=True), needs="a wheel that installs the runtime", **_PYTHON),
    _ok("with-gpu", "the runtime's CPU and GPU distributions are installed side by side", given.gpu,
        systems=("linux", "windows"), emulated=False, needs="a GPU distribution", slow=True, **_PYTHON),
    _ok("other-majors", "all major versions that the code can use are installed, and the best is used",
        given.other_majors, needs="a runtime of several major versions", **_PYTHON),
    # On Windows, the words of a C program are in the system's code page, and PATH is what runs an emulator.
    _ok("odd-folder", "installed in a folder whose name has spaces and non-ASCII letters", given.odd_folder,
        provider=True, consumers=_ALL, in_c=_UNIX),
    _ok("read-only", "installed in a read-only folder and used by an unprivileged user", Situation(unprivileged=True),
        systems=_UNIX, emulated=False, provider=True),
    _ok("target-folder", "installed with pip install --target", Situation(layout="target"), provider=True,
        **_PYTHON),
    _ok("frozen", "frozen by PyInstaller into one folder", Situation(layout="pyinstaller"), emulated=False,
        slow=True, **_PYTHON),
    _ok("upgraded", "the runtime was upgraded in place from the oldest version", given.use_older_first, provider=True,
        consumers=_APPLICATIONS),
    # Where tools put packages.
    _ok("uv-symlinks", "uv links the installed files to its cache", Situation(link_mode="symlink"), systems=_UNIX,
        **_RARE),
    _ok("uv-hardlinks", "uv makes hard links to the files in its cache", Situation(link_mode="hardlink"), **_RARE),
    _ok("uv-copies", "uv copies the installed files from its cache", Situation(link_mode="copy"), **_RARE),
    _ok("two-folders", "the runtime is in another folder of sys.path than the packages", Situation(layout="split"),
        **_RARE),
    _ok("pth-file", "a .pth file names the folder of the packages, as in editable installations",
        Situation(layout="sources"), **_RARE),
    _ok("folder-per-wheel", "each wheel is in its own folder of sys.path, as with Bazel", Situation(layout="separate"),
        **_RARE),
    _ok("user-site", "the runtime was installed with pip install --user, and the environment sees it",
        Situation(layout="user"), systems=("linux",), **_RARE),
    _ok("metadata-apart", "the runtime's metadata are in another folder of sys.path than its package",
        Situation(layout="metadata"), **_RARE),
    _ok("no-metadata", "no package has metadata, as on serverless platforms", Situation(layout="stripped"), **_RARE),
    _ok("byte-code", "the packages hold byte-code alone, without sources", Situation(layout="compiled"), **_RARE),
    _ok("linked-folder", "site-packages is a link to a folder elsewhere", Situation(layout="linked"), systems=_UNIX,
        **_RARE),
    _ok("conda-forge", "the runtime's library has conda-forge's name and is in its folder",
        Situation(layout="prefix"), needs="a supplier's files", supplier="conda-forge", **_RARE),
    _ok("pex-file", "packed by pex into one file", Situation(layout="pex"), slow=True, **_RARE),
    _ok("shiv-file", "packed by shiv into one file", Situation(layout="shiv"), slow=True, **_RARE),
    _ok("frozen-file", "frozen by PyInstaller into one file", Situation(layout="pyinstaller-file"), slow=True, **_RARE),
    _ok("frozen-cx-freeze", "frozen by cx_Freeze", Situation(layout="cx_freeze"), slow=True, **_RARE),
    _ok("frozen-nuitka", "compiled by Nuitka into one folder", Situation(layout="nuitka"), slow=True, **_RARE),
    # What the host does.
    _ok("imported-before", "the host imports the runtime's own Python API before the library loads",
        given.import_runtime("before"), **_PYTHON),
    _ok("imported-after", "the host imports the runtime's own Python API after the library has loaded",
        given.import_runtime("after"), **_PYTHON),
    _ok("older-loaded", "a copy that is too old is already loaded, but a suitable one is installed", given.older_loaded,
        needs="code that binds", in_c=SYSTEMS),
    _ok("two-runtimes", "another copy that is new enough is already loaded, and is used", given.two_runtimes,
        in_c=SYSTEMS),
    _ok("two-packages", "another package made with latebind uses another copy at the same time, and that is used",
        given.two_packages, needs="a runtime with a stand-in", consumers=(CMAKE,), in_c=SYSTEMS),
    _ok("threads", "eight threads load the runtime at the same time", Situation(action=("--threads", "8")),
        in_c=SYSTEMS),
    _ok("fork", "a process loads the library and forks, and both processes use it", Situation(action=("--fork",)),
        systems=_UNIX, in_c=_UNIX, **_PYTHON),
    _ok("spawn", "loaded in a process that multiprocessing spawned", Situation(action=("--spawn",)), provider=True,
        **_PYTHON),
    _ok("subprocess", "loaded in a process that the host started", Situation(action=("--subprocess",)), provider=True,
        **_PYTHON),
    _ok("c-host", "used by a program in C that releases the runtime before it ends", versions="all",
        emulated=False, needs="an execution provider", provider=True, c_host=True, consumers=(PYTHON,)),
    # Where the runtime is.
    _ok("path", "an explicit path names the file", given.path("given"), named=True, consumers=_ALL, in_c=SYSTEMS),
    _ok("path-folder", "an explicit path names the folder", given.path("given", "folder"), named=True,
        in_c=SYSTEMS),
    _ok("path-relative", "an explicit path is relative to the working directory", given.path("home/given", "from home"),
        named=True, in_c=SYSTEMS),
    _ok("path-odd", "an explicit path has spaces and non-Latin letters", given.path(given.ODD), named=True, in_c=_UNIX),
    _ok("environment", "the environment variable names the file", given.variable_file, named=True, consumers=_ALL,
        in_c=SYSTEMS),
    _ok("decoy", "an older copy comes first on the system's search path", given.decoy, in_c=_UNIX),
    _ok("decoy-system", "an older copy is in the system's own folder", given.decoy_system, systems=("windows",),
        sandboxed=True, **_PYTHON),
    # What goes wrong, and what the error message says.
    _refuses("absent", "no runtime is installed", Situation(), "{title} was not found", "version {minimum} or newer",
             "{install}", newer=False, versions="none", consumers=_ALL, in_c=SYSTEMS),
    _refuses("no-shared-library", "the installed runtime has no shared library", Situation(),
             "{dist} {version} is installed", "no shared library", "{dist} {minimum}", "pip install --upgrade",
             newer=False, versions="below", needs="code that binds", **_PYTHON),
    _refuses("unsupported", "an execution provider is given a runtime that it does not support", given.pass_module,
             "{title}", "{minimum}", newer=False, versions="below", needs="an execution provider", provider=True,
             script="plugin/provider.py", **_PYTHON),
    _refuses("too-old", "the runtime is older than the minimum, which is raised for this test", given.too_old,
             "{title} {version} at {installed}", "too old", "version {raised} or newer", "{fix}", newer=False,
             needs="code that binds", consumers=_ALL, in_c=SYSTEMS),
    _refuses("other-major", "the runtime is of another major version", given.other_major,
             "{title} {major} at {installed}", "another major version", synthetic=True, in_c=SYSTEMS),
    _refuses("truncated", "the runtime's file ends early", Situation(spoil=given.truncate),
             "{installed}", "not a usable library: truncated", consumers=_ALL, in_c=SYSTEMS),
    _refuses("corrupt", "the runtime's file starts with zeros", Situation(spoil=given.corrupt),
             "{installed}", "not a usable library", in_c=SYSTEMS),
    _refuses("text-file", "the runtime's file is a text file", Situation(spoil=given.text),
             "{installed}", "not a usable library: a text file", in_c=SYSTEMS),
    _refuses("wrong-architecture", "the runtime's file is for another processor", given.other_architecture,
             "{installed}", "built for {other}, this process is {own}", needs="another processor", in_c=SYSTEMS),
    _refuses("dependency-missing", "a library that the runtime needs is missing", given.dependency_missing,
             "{installed}", "a library that it needs is missing", "{gone}", "Install what it needs", in_c=SYSTEMS),
    _refuses("companion-missing", "a library that the runtime opens by itself is missing", given.companion_missing,
             "{installed} is incomplete: it opens {gone}, which is missing", "--force-reinstall", newer=False,
             needs="a runtime that opens more libraries", **_PYTHON),
    _refuses("permission-denied", "the runtime's file is not readable", Situation(unreadable=True, unprivileged=True),
             "{installed}", "may not be opened: permission denied", "version {minimum} or newer",
             "Correct its permissions", newer=False, systems=_UNIX, emulated=False),
    _refuses("path-wrong", "the explicit path does not exist", given.path_missing,
             "{path}", "no such file", "Correct the path", named=True, needs="code that binds", in_c=SYSTEMS),
    _refuses("not-a-library", "the explicit path is a text file", given.path_text,
             "{path}", "not a usable library: a text file", "Correct the path", named=True,
             needs="code that binds", in_c=SYSTEMS),
    _refuses("environment-wrong", "the environment variable names a file that does not exist", given.variable_missing,
             "{path}", "no such file", "{variable}", "unset it", named=True, in_c=SYSTEMS),
    _refuses("missing-backend", "the package that binds the runtime is not installed", given.without_backend,
             "backend was not found", "{backend}", "{fix} {backend}", newer=False, versions="none",
             needs="a package that another one loads", consumers=_APPLICATIONS),
)  # fmt: skip


COMPUTING = ("works", "consumed")
"""Those in which a consumer computes and nothing is wrong, in any language."""


def scenario(name: str) -> Scenario:
    """The scenario of that name."""
    return next(candidate for candidate in SCENARIOS if candidate.name == name)


def refuse_unknown_scenarios(own: Mapping[str, VerifyOwn], file: str) -> None:
    """Refuse settings of runtimes that list scenarios which don't exist. Raises ConfigError with all of them."""
    names = [scenario.name for scenario in SCENARIOS]
    problems = [
        LatebindError(
            f"{name!r} is not a scenario",
            where=f"{file}: verify.own.{runtime}.scenarios",
            advice=nearest(name, names),
        )
        for runtime, settings in own.items()
        for name in settings.scenarios
        if name not in names
    ]
    if problems:
        raise ConfigError(problems)
