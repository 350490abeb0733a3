"""Check LB514: whether the metadata of a wheel variant fit the label in its file name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from loadcheck.engine.check import Hit, Hits, check
from loadcheck.readers.package import variant_label

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents

_TABLES = ("default-priorities", "providers", "variants")


@check(
    "LB514",
    "Variant without the metadata of its label",
    "error",
    because="Installers that know variants cannot choose the wheel, and others do not see it.",
    kinds=("wheel",),
    example="demo-1.0-py3-none-manylinux_2_28_x86_64-x8664v3.whl without variant.json",
    fix="Make the variant with a build backend or `variantlib make-variant`, which write both.",
)
def variant_metadata(package: Contents) -> Hits:
    """A label at the end of a wheel's name stands for properties, which variant.json in .dist-info lists (PEP 825).

    The file has the label of its wheel as the one entry of `variants`.
    """
    label, inner = variant_label(package.path.name), f"{package.dist_info}/variant.json"
    text = package.texts.get(inner)
    if not label and text is None:
        return
    evidence = (f"file name: {package.path.name}",)
    if text is None:
        yield Hit(cause="missing", message=f"has the variant label {label}, but no variant.json", evidence=evidence)
        return
    document = _read(text)
    if document is None:
        yield Hit(cause="unreadable", inner=inner, message="variant.json is no JSON object", evidence=evidence)
        return
    if lacking := [key for key in _TABLES if not isinstance(document.get(key), dict)]:
        message = f"variant.json has no table {', '.join(lacking)}"
        yield Hit(cause="tables", inner=inner, message=message, evidence=evidence)
        return
    named = sorted(document["variants"])
    if named != [label]:
        what = f"the variant label {label}" if label else "no variant label"
        message = f"has {what} in its name, but variant.json has {', '.join(named) or 'no variant'}"
        yield Hit(cause="label", inner=inner, message=message, evidence=evidence)


def _read(text: bytes) -> dict[str, Any] | None:
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
