"""Check LB953: whether a JAR takes the place of a runtime's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.ecosystems.maven.pom import ECOSYSTEM
from latebind.tables.presets import RuntimePreset, presets
from loadcheck.engine.registry import Hit, Hits, check
from loadcheck.engine.wording import some

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents


@check(
    "LB953",
    "JAR that shadows the runtime's JAR",
    "error",
    profiles=("runtime",),
    because="If two JARs contain the same resource, a program gets the one that is first on its class path. So the "
    "order of the program's dependencies decides which runtime it uses.",
    kinds=("jar",),
    example="ai/onnxruntime/native/linux-x64/libonnxruntime.so in acme-nlp-1.0.0.jar",
    fix="Leave the runtime out, and depend on the artifact that supplies it.",
)
def second_runtime(package: Contents) -> Hits:
    """A JAR other than the runtime's own has files in the folder where the runtime's JAR has its libraries.

    The Java classes of the runtime load the runtime's library from this folder, too, and expect the version that
    belongs to them.
    """
    for runtime in presets().values():  # also for a project that binds none
        supply = runtime.supplies.get(ECOSYSTEM)
        if supply is None or package.project in supply.packages:
            continue
        places = [file.name for file in package.files if _is_taken(file.name, supply.folder, runtime)]
        if places:
            text = f"contains files in the folder of {supply.packages[0]}: {supply.folder}"
            yield Hit(cause=runtime.name, inner=places[0], message=text, evidence=some(places))


def _is_taken(name: str, folder: str, runtime: RuntimePreset) -> bool:
    supply = runtime.supplies[ECOSYSTEM]
    return name.startswith(f"{folder}/") and name.rpartition("/")[2] in {
        *supply.files.linux, *supply.files.macos, *supply.files.windows
    }  # fmt: skip
