"""Advises libraries of custom operators: ONNX Runtime opens them and passes its functions, so they need no stub."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.adopt.ownbuild import first_error
from latebind.adopt.product import read_product
from latebind.backend.targets import host_rid
from latebind.config.file import FILE_NAME
from latebind.config.project import read_project
from latebind.errors import BuildError, ToolError
from latebind.native.builds import stage_targets
from latebind.tables.hosts import OPERATORS_ADVICE, OPERATORS_ENTRY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from latebind.adopt.product import Product

_MACRO = "ORT_API_MANUAL_INIT"


def describe_operators(product: Product) -> list[str]:
    """A line on each library of custom operators."""
    wrong = f"exports {OPERATORS_ENTRY}: ONNX Runtime passes its functions to it, so no stub is needed"
    right = f"exports {OPERATORS_ENTRY}, and needs nothing of ONNX Runtime but what it gets there"
    looking = product.operators
    return [f"{name.rpartition('/')[2]}: {wrong if name in looking else right}" for name in product.registering]


def try_operators(copy: Path, scratch: Path) -> str:
    """Build a copy of a project, which has its planned latebind.toml, with C++ headers that use what is passed."""
    file = copy / FILE_NAME
    text = file.read_text("utf-8") + f'\n[targets.{host_rid()}]\ncxxflags = ["-D{_MACRO}"]\n'
    file.write_text(text, encoding="utf-8")
    try:
        (stage,) = stage_targets(read_project(file, scratch / "operators"), [host_rid()])
    except (BuildError, ToolError) as error:
        return f"left: with -D{_MACRO}, latebind build fails: {first_error(error.message).replace(f'{copy}/', '')}"
    product = read_product(stage.root)
    if product.operators:
        return f"left: with -D{_MACRO}, the code still calls OrtGetApiBase(): use what {OPERATORS_ENTRY}() gets instead"
    return f"tried: with -D{_MACRO}, it asks for no function of ONNX Runtime"


def advise_operators(places: Sequence[str] = ()) -> str:
    """What to change by hand."""
    where = f" ({', '.join(places)})" if places else ""
    return f"next: link nothing{where}. {OPERATORS_ADVICE}"
