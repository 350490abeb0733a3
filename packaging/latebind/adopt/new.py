"""Makes a new project: a library that binds ONNX Runtime late or that it loads, and what verifies it."""

from __future__ import annotations

import base64
import keyword
import platform
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.adopt.runtime_module import FILE_NAME, render_runtime_module
from latebind.adopt.workflow import DEPENDABOT, WORKFLOW, render_workflow
from latebind.backend.files import write_text
from latebind.backend.host import can_compile
from latebind.backend.targets import host_rid, target
from latebind.backend.zig import find_zig
from latebind.config.document import AUTHOR
from latebind.config.file import tables_of
from latebind.config.schema import SCHEMA_ID
from latebind.errors import InputError
from latebind.installation import find_commit, list_requirements
from latebind.system.git import ask_git
from latebind.system.log import LOG
from latebind.tables.presets import preset, presets
from latebind.templates import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from latebind.backend.targets import Rid

_PORTS = tuple(f"{port}{number}" for port in ("com", "lpt") for number in range(10))
_DEVICES = frozenset({"con", "prn", "aux", "nul", *_PORTS})
"""learn.microsoft.com, "Naming Files, Paths, and Namespaces"."""
_POPULAR = frozenset(
    {
        *("numpy", "scipy", "pandas", "torch", "tensorflow", "jax", "onnx", "pillow", "requests", "django"),
        *("flask", "fastapi", "pydantic", "transformers", "tokenizers", "matplotlib", "pytest", "setuptools"),
        *("protobuf", "cryptography", "lxml", "grpcio", "boto3", "pip", "wheel", "packaging", "hatchling"),
    }
)
"""Distributions that nearly every environment has: a project of such a name could not be installed next to them."""
_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_MODEL = "CAgSADo3Cg4KAXgKAXgSAXkiA0FkZBIBZ1oQCgF4EgsKCQgBEgUKAxIBTmIQCgF5EgsKCQgBEgUKAxIBTkIECgAQEQ=="
"""An ONNX model that adds its input "x" to itself, as "y"."""


_FUNCTIONS = ("open", "load", "run", "free")
"""What the library of a new project exports, without the prefix."""
TORCH_FLOOR = "2.10"
"""The first PyTorch with what the headers of the stable ABI use for any operator: torch_library_impl(), for one."""
_COMMON = {
    DEPENDABOT: "init/dependabot.yml.j2",
    ".gitignore": "init/gitignore.j2",
    "CHANGELOG.md": "new/CHANGELOG.md.j2",
    "LICENSE": "new/LICENSE.j2",
}
"""What every new project has: path and template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTarget:
    """The target of a project that only this machine's own compiler builds."""

    rid: Rid
    glibc: str
    """This system's glibc, which the compiler builds for; "" without glibc."""


def find_own_target() -> OwnTarget | None:
    """This machine, if it has a compiler of its own and no zig, which builds for every target and for older systems."""
    if find_zig() is not None or not can_compile(target(host_rid()), ()):
        return None
    name, version = platform.libc_ver()
    return OwnTarget(rid=host_rid(), glibc=version if name == "glibc" else "")


def project_files(
    name: str, language: str, author: str, module: str = "", own: OwnTarget | None = None
) -> dict[str, str]:
    """Every file of a new project with its text, by its path in it. `name` is one that `check_name` accepts.

    `module` is the import name, which `check_name` accepts, too; by default it follows from the name. `own` is the only
    target of a project that this machine's own compiler builds.
    """
    module = module or module_name(name)
    source = "cpp" if language == "c++" else "c"
    templates = {
        "CONTRIBUTING.md": "new/CONTRIBUTING.md.j2",
        "README.md": "new/README.md.j2",
        "latebind.toml": "new/latebind.toml.j2",
        "native/CMakeLists.txt": "new/CMakeLists.txt.j2",
        f"native/{module}.{source}": f"new/library.{source}.j2",
        f"native/{module}.h": "new/library.h.j2",
        "python/pyproject.toml": "new/pyproject.toml.j2",
        f"python/src/{module}/__init__.py": "new/package.py.j2",
        f"tests/test_{module}.py": "new/test.py.j2",
        "verify/c/CMakeLists.txt": "new/consumer_cmake.j2",
        "verify/c/consumer.c": "new/consumer.c.j2",
        "verify/smoke.py": "new/smoke.py.j2",
    }
    runtime = preset("onnxruntime")
    files = _render_files(
        templates,
        name,
        author,
        module=module,
        macro=module.upper(),
        nuget=_camel(name),
        cxx=language == "c++",
        minimum=runtime.floor,
        model=", ".join(map(str, base64.b64decode(_MODEL))),
        model_text=_MODEL,
        own=own,
        functions=_FUNCTIONS,
        requirements=list_requirements("native", "verify"),
        is_on_index=not find_commit(),
    )
    package = f"python/src/{module}"
    return {**files, f"{package}/{FILE_NAME}": render_runtime_module(runtime), f"{package}/py.typed": ""}


def provider_files(name: str, author: str) -> dict[str, str]:
    """Every file of a new execution provider, like project_files(). The example ep-tiny is made with it."""
    module = module_name(name)
    templates = {
        "CONTRIBUTING.md": "plugin/new/CONTRIBUTING.md.j2",
        "README.md": "plugin/new/README.md.j2",
        "latebind.toml": "plugin/new/latebind.toml.j2",
        "native/CMakeLists.txt": "plugin/new/CMakeLists.txt.j2",
        f"native/{module}_ep.c": "plugin/new/ep.c.j2",
        "verify/dotnet/Program.cs": "plugin/new/Program.cs.j2",
        "verify/dotnet/Smoke.csproj": "plugin/new/Smoke.csproj.j2",
        "verify/smoke.py": "plugin/new/smoke.py.j2",
    }
    return _render_files(templates, name, author, id=module.strip("_").replace("_", "-"), camel=_camel(name))


def _list_templates(folder: str, module: str) -> dict[str, str]:
    """What each library of operators has: path and template."""
    return {
        "CONTRIBUTING.md": f"{folder}/CONTRIBUTING.md.j2",
        "README.md": f"{folder}/README.md.j2",
        "latebind.toml": f"{folder}/latebind.toml.j2",
        "native/CMakeLists.txt": f"{folder}/CMakeLists.txt.j2",
        f"native/{module}.cc": f"{folder}/operators.cc.j2",
        "python/pyproject.toml": "new/pyproject.toml.j2",
        f"python/src/{module}/__init__.py": f"{folder}/package.py.j2",
        "verify/smoke.py": f"{folder}/smoke.py.j2",
    }


def operators_files(name: str, author: str, module: str = "") -> dict[str, str]:
    """Every file of a new library of custom operators, like project_files()."""
    module = module or module_name(name)
    templates = {
        **_list_templates("operators", module),
        "native/ort_floor.h": "operators/ort_floor.h.j2",
        "verify/data.py": "operators/data.py.j2",
    }
    floor = preset("onnxruntime").floor.partition(".")[2]
    values = {"module": module, "camel": _camel(name), "floor": floor, "is_on_index": not find_commit()}
    files = _render_files(templates, name, author, **values)
    return {**files, f"python/src/{module}/py.typed": ""}


def torch_files(name: str, author: str, module: str = "") -> dict[str, str]:
    """Every file of a new library of operators for PyTorch, like project_files()."""
    module = module or module_name(name)
    templates = {
        **_list_templates("torch", module),
        "native/boxed.h": "torch/boxed.h.j2",
        "native/version.c": "torch/version.c.j2",
    }
    floor = TORCH_FLOOR.partition(".")[2]
    values = {"module": module, "floor": floor, "keywords": ("pytorch", "torch"), "is_on_index": not find_commit()}
    files = _render_files(templates, name, author, **values)
    return {**files, f"python/src/{module}/py.typed": ""}


def _render_files(templates: dict[str, str], name: str, author: str, **values: object) -> dict[str, str]:
    common = {
        "name": name,
        "module": module_name(name),
        "author": author or f"The {name} authors",
        "holder": author.partition(" <")[0] or f"The {name} authors",
        "schema": SCHEMA_ID,
        "keywords": ("onnx", "onnxruntime"),
    }
    values = {**common, **values}
    values["is_renamed"] = values["module"] != module_name(name)
    files = {path: render(template, **values) for path, template in {**_COMMON, **templates}.items()}
    tables = tables_of(files["latebind.toml"]) or {}
    tests = "tests" if any(path.startswith("tests/") for path in files) else ""
    return {WORKFLOW: render_workflow(name, tables, branch="main", tests=tests), **files}


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[-._]+", name))


_LANGUAGES = {"library": ("c", "c++"), "ep": ("c",), "custom-op": ("c++",), "torch": ("c++",)}
"""Of each kind, the default first."""
_WRITERS: Mapping[str, Callable[[str, str, str, str], dict[str, str]]] = {
    "library": lambda name, language, author, module: project_files(name, language, author, module, find_own_target()),
    "ep": lambda name, _language, author, _module: provider_files(name, author),
    "custom-op": lambda name, _language, author, module: operators_files(name, author, module),
    "torch": lambda name, _language, author, module: torch_files(name, author, module),
}
"""The files of a project of each kind, from its name, its language, its author and its import name."""
_CHOOSING = frozenset({"library", "custom-op", "torch"})
"""The kinds of projects that choose their import name."""


def make_project(folder: Path, language: str = "", kind: str = "library", module: str = "") -> list[str]:
    """Write a new project, named after its folder, and return the paths of its files in it.

    `language` is by default the kind's own. `module`, with which Python imports it, follows from the project's name.

    Raises InputError for a name that no package can have, a folder that exists and is not empty, and an execution
    provider in C++ or with an import name of its own.
    """
    check_name(folder.name)
    if module:
        _check_module(module, kind)
    language = language or _LANGUAGES[kind][0]
    if language not in _LANGUAGES[kind]:
        raise InputError(f"--kind {kind} has no template for {language.upper()}", advice="Leave out --language.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            "already exists and is not an empty folder",
            where=str(folder),
            advice="Choose another name. For an existing project: latebind adopt.",
        )
    warn_popular(folder.name)
    files = _WRITERS[kind](folder.name, language, _find_author(folder.parent), module)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_text(folder / path, text)
    return list(files)


def _check_module(module: str, kind: str) -> None:
    if kind not in _CHOOSING:
        text = "the module of an execution provider is onnxruntime_ep_NAME, which ONNX Runtime's documentation asks for"
        raise InputError(text, where="--module-name", advice="Leave out --module-name.")
    if module != module_name(module):
        advice = f"Write it in lowercase, with underscores: {module_name(module)}."
        raise InputError(f"{module} is not an import name", where="--module-name", advice=advice)
    check_name(module)


def _find_author(folder: Path) -> str:
    """The user of git as package metadata name an author; "" without one."""
    name, email = (ask_git(folder, "config", f"user.{key}") for key in ("name", "email"))
    author = f"{name} <{email}>"
    return author if name and AUTHOR.fullmatch(author) else name


def module_name(name: str) -> str:
    """The name of the Python package, of the library, and the prefix of its functions."""
    return re.sub(r"[-.]+", "_", name).lower()


def warn_popular(name: str) -> None:
    """Say that a name is taken by a popular distribution: no index accepts it, and no environment has both."""
    if module_name(name) in _POPULAR:
        LOG.say(
            f"warning: {name} is the name of a popular distribution on PyPI: choose another name before you publish"
        )


def check_name(name: str) -> None:
    """Raise InputError for a name that a wheel, a Python package or a C function cannot have."""
    module = module_name(name)
    advice = "Choose a name of letters, digits and single hyphens that starts with a letter: latebind new my-engine."
    if not _NAME.fullmatch(name):
        raise InputError(f"{name} cannot be the name of a package", advice=advice)
    if "." in name:
        raise InputError(
            f"{name} has a dot, which is not allowed in names of C functions and Python packages", advice=advice
        )
    if module in _DEVICES:
        raise InputError(f"{name} is a device name on Windows, where no folder can have this name", advice=advice)
    if keyword.iskeyword(module) or module in sys.stdlib_module_names:
        text = f"{name} is a Python keyword, or a standard module that your package would shadow"
        raise InputError(text, advice=advice)
    if module in (*presets(), "latebind", "consumer", "runtime"):
        raise InputError(
            f"{name} is reserved: a runtime, latebind or a part of the new project has this name", advice=advice
        )
