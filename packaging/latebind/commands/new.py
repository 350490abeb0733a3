"""The command `new`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import Add, add_format, print_json
from latebind.errors import ANY_ERROR
from latebind.system.log import LOG

if TYPE_CHECKING:
    from latebind.tables.presets import RuntimePreset

_NEXT_LIBRARY = """Created {folder}/ with {files}: a {language} library that uses {runtime}

next:
  cd {folder}
  latebind pack      # build it; wheel, sdist and NuGet package in dist/
  latebind audit     # check every file in the packages
  latebind verify    # install them in clean environments and run the library
"""
_NEXT_PROVIDER = """Created {folder}/ with {files}: an execution provider for ONNX Runtime {oldest} or newer

next:
  cd {folder}
{headers}  latebind pack      # build it; wheel and NuGet package in dist/
  latebind audit     # check every file in the packages
  latebind verify    # register the provider in clean environments and run a model
"""
_NEXT_OPERATORS = """Created {folder}/ with {files}: custom operators for {runtime}

next:
  cd {folder}
{headers}  latebind pack      # build it; wheel, sdist and NuGet package in dist/
  latebind audit     # check every file in the packages
  latebind verify    # register the library in clean environments and run a model
"""
_NEXT_TORCH = """Created {folder}/ with {files}: operators for PyTorch {torch} or newer

next:
  cd {folder}
{headers}  latebind pack      # build it; wheel and sdist in dist/
  latebind audit     # check every file in the packages
  latebind verify    # install them in clean environments with PyTorch, and run the operator
"""
_NEXT = {"library": _NEXT_LIBRARY, "ep": _NEXT_PROVIDER, "custom-op": _NEXT_OPERATORS, "torch": _NEXT_TORCH}


def declare_new(add: Add) -> None:
    """`latebind new`."""
    new = add("new", _new, "create a project that you can build, pack, audit and verify right away")
    add_format(new)
    new.add_argument("folder", type=Path, metavar="NAME", help="name of the project, or a path that ends with it")
    new.add_argument(
        "--kind",
        choices=("library", "ep", "custom-op", "torch"),
        default="library",
        help="ep: an execution provider in C; custom-op: custom operators in C++; torch: operators for PyTorch in C++ "
        "(default: library)",
    )
    new.add_argument(
        "--module-name",
        default="",
        metavar="NAME",
        help="name with which Python imports it, if it is not that of the project (default: NAME with underscores)",
    )
    new.add_argument(
        "--runtime",
        choices=("onnxruntime",),
        default="onnxruntime",
        help="the runtime that it uses (default: onnxruntime)",
    )
    new.add_argument(
        "--language",
        choices=("c", "c++"),
        default="",
        help="language of the library (default: c)",
    )


def _new(arguments: argparse.Namespace) -> int:
    from latebind.adopt.new import TORCH_FLOOR, make_project
    from latebind.config.described import libraries
    from latebind.config.plugin import EP_FLOOR, EP_RUNTIME
    from latebind.tables.presets import preset
    from latebind.text import plural

    folder = arguments.project / arguments.folder
    files = make_project(folder.resolve(), arguments.language, arguments.kind, arguments.module_name)
    compiled_with = {
        "ep": (preset(EP_RUNTIME), EP_FLOOR),
        "custom-op": (preset(EP_RUNTIME), EP_FLOOR),
        "torch": (libraries()["torch"], TORCH_FLOOR),
    }
    wanted = compiled_with.get(arguments.kind)
    missing = _add_headers(folder.resolve() / "native/include", *wanted) if wanted else ""
    if arguments.format == "json":
        print_json({"folder": str(folder.resolve()), "files": sorted(files)})
        return 0
    title = f"{preset(arguments.runtime).title} {preset(arguments.runtime).floor} or newer"
    shown = {"folder": folder.as_posix(), "files": plural(len(files), "file"), "headers": missing, "oldest": EP_FLOOR}
    language = (arguments.language or "c").upper()
    print(_NEXT[arguments.kind].format(language=language, runtime=title, torch=TORCH_FLOOR, **shown), end="")
    return 0


def _add_headers(include: Path, runtime: RuntimePreset, version: str) -> str:
    """Put the official headers that a project is compiled with into a folder; the command for later without them."""
    from latebind.headers import get_headers, write_headers

    try:
        write_headers(get_headers(runtime, version), runtime.name, include)
    except ANY_ERROR as error:
        LOG.say(f"warning: {error.message}")
        return f"  latebind headers {runtime.name} {version} --output native/include\n"
    return ""
