"""Checks LB119 to LB121: whether the distributions of a Python environment work next to each other."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from loadcheck.checks.linkage import is_absolute, of_system
from loadcheck.checks.searchpaths import list_folders
from loadcheck.engine import platforms
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.openedfirst import may_load_libraries
from loadcheck.engine.supply import admits, zip_requirements
from loadcheck.engine.wording import is_late, list_names, needs, own_name
from loadcheck.readers.contents import GRAFTED
from loadcheck.readers.environment import find_imports, find_outside, mentions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from packaging.requirements import Requirement

    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, File
    from loadcheck.readers.environment import Environment, Installed

_VERSIONS = re.compile(r"\.(?:so|dylib|dll|\d).*")
_ADDS_FOLDER = "add_dll_directory"
_OF_PYTHON = re.compile(r"(?:lib)?python3.*")


@check(
    "LB119",
    "Library that several distributions install",
    "warning",
    because="Programs that import the distributions may crash or be slow; of one file, only the last copy is there. "
    "The finding is a note if the copies have one name, so that a process loads only one of them.",
    kinds=("environment",),
    example="infomap 2.10.1: libgomp-e985bcbb.so.1.0.0; torch 2.13.0: libgomp.so.1",
    fix="Import one of the distributions only, or choose builds that share the library.",
)
def library_of_several(package: Contents) -> Hits:
    """Some libraries do not work twice in one process, and others not in two major versions.

    Two copies of OpenMP have two sets of threads, and those of LLVM and Intel end the process: `OMP: Error #15`. Two
    copies of protobuf register the same messages twice. Two copies of FFmpeg on macOS have classes of the same names.
    Two copies of ONNX Runtime, or two major versions of CUDA, do not share sessions, memory and handles.

    A loader takes a library with another SONAME or file name for another library. If the names are equal, the copy that
    is loaded first serves both distributions.

    Distributions that install files of one name replace each other's files, as `onnxruntime` and `onnxruntime-gpu` do.
    """
    for family, copies in find_copies(package).items():
        yield _judge_copies(family, copies)
    yield from _judge_majors(package)
    yield from _judge_replaced(package)


def find_copies(package: Contents) -> Mapping[str, Mapping[str, list[tuple[File, Image]]]]:
    """The libraries of several distributions that do not work twice in a process, by family and distribution."""
    families: dict[str, dict[str, list[tuple[File, Image]]]] = defaultdict(lambda: defaultdict(list))
    for installed, file, image in list_owned(package):
        for family, patterns in platforms.data().once.items():
            if any(fnmatchcase(_stem(file, image), pattern) for pattern in patterns):
                families[family][str(installed)].append((file, image))
    return {family: copies for family, copies in families.items() if len(copies) > 1}


def _judge_copies(family: str, copies: Mapping[str, list[tuple[File, Image]]]) -> Hit:
    rows = [(owner, file, image) for owner, files in copies.items() for file, image in files]
    count = len({name_loaded(file, image) for _, file, image in rows})
    effect = (
        f"a program that imports them loads {count} copies"
        if count > 1
        else "all have one name, so that the copy that is loaded first serves all"
    )
    return Hit(
        cause=family,
        names=tuple(sorted(owner.partition(" ")[0] for owner in copies)),
        message=f"{list_names(sorted(copies))} install {family}: {effect}",
        severity="warning" if count > 1 else "note",
        evidence=tuple(f"{owner}: {file.name} ({own_name(image) or file.base})" for owner, file, image in rows),
    )


def name_loaded(file: File, image: Image) -> str:
    """What is the same for two files if a process loads only one of them.

    dyld compares paths, and the other loaders the names of what is loaded.
    """
    return file.name if image.format == "macho" else own_name(image) or file.base


def _judge_majors(package: Contents) -> Hits:
    """CUDA in two major versions, as the SONAMEs of its libraries say."""
    owners: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for installed, file, image in list_owned(package):
        match = re.fullmatch(r"(libcudart|libcublas)\.so\.(\d+).*", image.soname)
        if match:
            owners[match[1]][match[2]].append(f"{installed}: {file.name}")
    for library, majors in owners.items():
        if len(majors) > 1:
            yield Hit(
                cause=f"CUDA {library}",
                message=f"{library} is installed in the major versions {list_names(sorted(majors))}",
                evidence=tuple(row for rows in majors.values() for row in rows),
                fix="Choose builds of the distributions for one major version of CUDA.",
            )


def _judge_replaced(package: Contents) -> Hits:
    """Native files that several distributions have put into one place."""
    owners: dict[tuple[Path, str], list[str]] = defaultdict(list)
    for installed in package.environment.installed if package.environment else ():
        for name in installed.files:
            owners[installed.folder, name].append(str(installed))
    shared: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for (_, name), several in sorted(owners.items()):
        if len(several) > 1:
            shared[tuple(sorted(several))].append(name)
    for together, names in shared.items():
        yield Hit(
            cause=f"files of {' '.join(owner.partition(' ')[0] for owner in together)}",
            message=f"{list_names(together)} install the same files: the last one replaced those of the others",
            evidence=tuple(names),
            fix="Uninstall all of these distributions, and install the one that is needed: to uninstall one alone "
            "removes files of the others.",
        )


def _stem(file: File, image: Image) -> str:
    """A library's name without a hash and versions: `libgomp` of libgomp-e985bcbb.so.1.0.0."""
    base = posixpath.basename(image.soname) if image.soname and image.format != "pe" else file.base
    return _VERSIONS.sub("", GRAFTED.sub("", base)).lower()


@check(
    "LB120",
    "Needed library that no distribution installs",
    "warning",
    because="What needs the file fails. Other parts of the distribution may work. The finding is an error if importing "
    "the distribution fails in any case.",
    kinds=("environment",),
    example="onnxruntime-gpu 1.27.0: onnxruntime_pybind11_state.so needs libcudart.so.13",
    fix="Install the distribution, extra or system package that has the library.",
)
def library_not_installed(package: Contents) -> Hits:
    """A binary of an environment loads only if each library that it needs is installed.

    The library may be in any distribution, in a folder of the environment, or on every system. Libraries of drivers and
    those of most Linux systems do not count, nor do those that this machine's loader finds elsewhere.

    On Linux and macOS, a library in a folder that nothing searches is not found, either. Python code of the
    distribution may load it first by importing another package, so that nothing is reported where it imports one, and
    other compiled modules of it may, too, so that the finding is a warning then.

    A package cannot show what a system has, and a part of it may be optional: so this is a warning. It is an error if
    the file is for this machine, import statements that always run lead from a name of the distribution to it, and no
    Python code of the distribution names the library or adds folders of DLLs: then `import` fails here.

    An ELF library may name what it opens at run time (section `.note.dlopen`). If that is missing, the finding is a
    warning for a library that the note calls required, and a note otherwise.
    """
    environment = package.environment
    if environment is None:
        return
    holders = list_holders(package)
    present = environment.of_loader | environment.searched | holders.keys()
    for installed, file, image in list_owned(package):
        for name in image.needed:
            base = posixpath.basename(name).lower()
            is_known = base in environment.of_loader or platforms.is_driver(base) or platforms.is_common(base)
            if is_known or is_absolute(image, name) or is_late(image, name) or is_of_system(package, image, name):
                continue
            where = "no distribution installs"
            if base in present:
                paths = holders.get(base, ())
                if not paths or _may_find(package, installed, file, name, paths):
                    continue
                where = f"is installed as {paths[0]}, where the loader does not search"
            is_alone = package.modules & installed.files <= package.users_of(file.name)
            is_sure = base not in present or is_alone  # other modules import what no code shows
            broken = _find_broken(package, installed, file, image, name) if is_sure else ""
            yield Hit(
                cause=name,
                message=f"{installed} needs {name}, which {where}"
                + f"; import {broken} fails without it" * bool(broken),
                severity="error" if broken else "warning",
                evidence=(needs(image, name),),
                inner=file.name,
                libraries=(name,),
            )
        for opened in image.opened:
            if not {name.lower() for name in opened.names} & present:
                names = " or ".join(opened.names)
                yield Hit(
                    cause=f"opens {names}",
                    message=f"{installed} opens {names}, which no distribution installs",
                    severity="warning" if opened.priority == "required" else "note",
                    evidence=(f".note.dlopen: {opened.feature} ({opened.priority})",),
                    inner=file.name,
                )


def list_holders(package: Contents) -> Mapping[str, tuple[str, ...]]:
    """The installed files by the names that they have for a loader, in lower case."""
    holders: dict[str, tuple[str, ...]] = {}
    for file, image in package.images:
        for name in {file.base.lower(), image.soname.lower()}:
            holders[name] = (*holders.get(name, ()), file.name)
    return holders


def is_of_system(package: Contents, image: Image, name: str) -> bool:
    """Whether every system has a library, or Python does."""
    return bool(_OF_PYTHON.fullmatch(posixpath.basename(name).lower())) or of_system(package, image, name)


def _may_find(package: Contents, installed: Installed, user: File, name: str, paths: tuple[str, ...]) -> bool:
    """Whether a loader finds a library in one of the places, or may find that it is loaded already.

    Of a file that no module of Python loads it is not known who opens it, and what that has loaded.
    """
    if package.modules.isdisjoint(package.users_of(user.name)):
        return True
    folders = {posixpath.dirname(path) or "." for path in paths}
    users = [(file, image) for file, image in package.images if file.name in installed.files and name in image.needed]
    if any(image.format == "pe" or folders & list_folders(package, file, image, name) for file, image in users):
        return True
    return not installed.files.isdisjoint(paths) or may_load_libraries(find_outside(installed))


def _find_broken(package: Contents, installed: Installed, file: File, image: Image, name: str) -> str:
    """A name of a distribution whose import surely fails without a library; "" if that is not certain."""
    is_here = package.environment is not None and package.environment.machine == (image.format, image.arch)
    if not is_here or image.link_kinds.get(name) == "weak":
        return ""
    imports, users = find_imports(installed), sorted(package.users_of(file.name) & installed.files)
    broken = next((imports[user] for user in users if user in imports and not _has_twin(installed, user)), "")
    word = _VERSIONS.sub("", posixpath.basename(name))
    is_opened = broken and (mentions(installed, word) or (image.format == "pe" and mentions(installed, _ADDS_FOLDER)))
    return "" if is_opened else broken


def _has_twin(installed: Installed, name: str) -> bool:
    """Whether there are several files for one module, of which a Python loads its own."""
    folder, base = posixpath.split(name)
    start = posixpath.join(folder, f"{base.partition('.')[0]}.")
    return sum(other.startswith(start) for other in installed.files) > 1


@check(
    "LB121",
    "Requirement that is not installed",
    "error",
    because="The distribution promises to work only with what it requires.",
    kinds=("environment",),
    example="rmm-cu12 26.10.0 requires librmm-cu12==26.10.*, which is not installed",
    fix="Install what is missing: pip install, with the name of the distribution.",
)
def requirement_not_installed(package: Contents) -> Hits:
    """A distribution whose requirements are not installed fails at import or later. Extras do not count."""
    environment = package.environment
    if environment is None:
        return
    versions = {each.name: each.version for each in environment.installed}
    for installed in environment.installed:
        for requirement in _list_requirements(installed, environment):
            version = versions.get(canonicalize_name(requirement.name))
            if version is None or not requirement.specifier.contains(version, prereleases=True):
                text = f"{requirement.name}{requirement.specifier}"
                state = f"{version} is installed" if version else "which is not installed"
                yield Hit(
                    cause=f"{installed.name} {requirement.name}",
                    message=f"{installed} requires {text}, {'but ' * bool(version)}{state}",
                    evidence=(f"Requires-Dist: {requirement}",),
                )


def _list_requirements(installed: Installed, environment: Environment) -> Iterator[Requirement]:
    """The requirements that hold for the environment's Python on this system, without extras."""
    python = environment.python
    own = {"python_version": python, "python_full_version": f"{python}.0"} if python else {}
    for _, requirement in zip_requirements(installed.requires):
        if admits(requirement, own):
            yield requirement


def list_owned(package: Contents) -> Iterator[tuple[Installed, File, Image]]:
    """Each image with the distribution that installed it."""
    owners = {
        name: each for each in (package.environment.installed if package.environment else ()) for name in each.files
    }
    for file, image in package.images:
        if image.is_linked:
            yield owners[file.name], file, image
