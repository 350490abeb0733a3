"""Check LB514: whether the metadata of a wheel variant fit the label in its file name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from loadcheck.engine.check import Hit, Hits, check
from loadcheck.readers.package import variant_label

if TYPE_CHECKING:
    from collections.abc import Collection

    from loadcheck.readers.contents import Contents

_Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9_]+\Z")]
_Value = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9_.]+\Z")]
_Requirement = Annotated[str, msgspec.Meta(pattern=r"^[\S ]+\Z")]
_Object = Annotated[str, msgspec.Meta(pattern=r"^[\w.]+(\s*:\s*[\w.]+)?\Z")]


class _Priorities(msgspec.Struct):
    namespace: list[_Name] = []


class _Provider(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    """Who knows the properties of a namespace on a machine: a plug-in, the installer, or the file itself."""

    requires: list[_Requirement] = []
    static_properties: dict[_Name, Annotated[list[_Value], msgspec.Meta(min_length=1)]] = {}
    feature_order: list[_Name] = []
    builtin: str | None = None
    plugin_api: _Object | None = None
    optional: bool = False


class _Document(msgspec.Struct, rename="kebab"):
    """variant.json, as PEP 825 and variantlib have it."""

    default_priorities: _Priorities
    providers: dict[_Name, _Provider]
    variants: dict[str, dict[_Name, dict[_Name, list[_Value]]]]


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
    try:
        document = msgspec.json.decode(text, type=_Document)
    except msgspec.ValidationError as error:
        message = f"variant.json is not as PEP 825 has it: {error}"
        yield Hit(cause="tables", inner=inner, message=message, evidence=evidence)
        return
    except (msgspec.DecodeError, RecursionError):
        yield Hit(cause="unreadable", inner=inner, message="variant.json is no JSON", evidence=evidence)
        return
    if fault := _find_fault(document):
        yield Hit(cause="providers", inner=inner, message=f"variant.json {fault}", evidence=evidence)
    named = sorted(document.variants)
    if named != [label]:
        what = f"the variant label {label}" if label else "no variant label"
        message = f"has {what} in its name, but variant.json has {', '.join(named) or 'no variant'}"
        yield Hit(cause="label", inner=inner, message=message, evidence=evidence)


def _find_fault(document: _Document) -> str:
    """What is wrong with the providers, "" for nothing."""
    ordered, provided = set(document.default_priorities.namespace), document.providers.keys()
    if ordered != provided:
        return f"orders {_list(ordered)}, but has providers of {_list(provided)}"
    if unknown := {name for properties in document.variants.values() for name in properties} - provided:
        return f"has properties of {_list(unknown)}, for which it has no provider"
    for name, provider in document.providers.items():
        sources = (bool(provider.requires), bool(provider.static_properties), provider.builtin is not None)
        if sources.count(True) != 1:
            return f"needs exactly one of requires, static-properties and builtin for the provider of {name}"
        if provider.plugin_api is not None and not provider.requires:
            return f"has plugin-api without requires for the provider of {name}"
        has_order = bool(provider.feature_order) or len(provider.static_properties) > 1
        if has_order and set(provider.feature_order) != provider.static_properties.keys():
            return f"has another feature-order than static-properties for the provider of {name}"
    return ""


def _list(names: Collection[str]) -> str:
    return " ".join(sorted(names)) or "nothing"
