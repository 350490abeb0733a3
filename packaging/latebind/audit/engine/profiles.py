"""Declares which checks each profile applies, in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from latebind.model import Profile

PROFILES: Mapping[Profile, str] = {
    "loads": "what decides whether the package installs and loads, or lets someone in; the default for other packages",
    "runtime": "late binding: whether the runtime is linked, bundled, renamed, embedded or required",
    "all": "every check; the default for your own project",
}
"""The values of `--profile`, from the narrowest to the widest."""

ALWAYS = frozenset({"LB601", "LB604", "LB605"})
"""Checks that every choice applies: an unreadable file was not judged, and a report must not hide that."""

_CODES: Mapping[Profile, tuple[str, ...]] = {
    "loads": (
        "LB101", "LB102", "LB106", "LB107", "LB108", "LB111", "LB112",
        "LB301", "LB302", "LB303", "LB304", "LB305", "LB306", "LB308", "LB309", "LB310",
        "LB401", "LB402", "LB403", "LB404", "LB405", "LB409", "LB410", "LB411", "LB412", "LB413", "LB415",
        "LB430", "LB431", "LB432", "LB433",
        "LB501", "LB502", "LB503",
        "LB602", "LB603", "LB606", "LB607", "LB611", "LB615", "LB617",
        "LB701", "LB702",
        "LB801", "LB804", "LB808",
        "LB901", "LB902", "LB903", "LB904", "LB906",
    ),
    "runtime": (
        "LB101", "LB102", "LB103", "LB104", "LB105", "LB109", "LB113",
        "LB504", "LB506",
        "LB806",
    ),
    "all": (
        "LB110",
        "LB201", "LB202", "LB203", "LB204",
        "LB307",
        "LB406", "LB407", "LB408", "LB414", "LB416",
        "LB505", "LB507",
        "LB608", "LB609", "LB610", "LB612", "LB613", "LB614",
        "LB616",
        "LB802", "LB803", "LB805", "LB807", "LB809",
        "LB905",
    ),
}  # fmt: skip
"""The checks of `loads` and `runtime`; below `all`, those that are in neither."""
DECLARED = ALWAYS.union(*_CODES.values())
"""Every check in the table."""


def profiles_of(code: str) -> tuple[Profile, ...]:
    """The profiles that apply a check. A check of another distribution is in every profile."""
    if code in ALWAYS or code not in DECLARED:
        return tuple(PROFILES)
    return tuple(name for name in PROFILES if name == "all" or code in _CODES[name])
