"""JARs that checks of several kinds of packages judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus.cases.case import Case, contents, good, made_by, runtime
from corpus.cases.tags import ARM
from corpus.packages import Bench, write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ORT = ("com.microsoft.onnxruntime", "onnxruntime")
PLACE = "ai/onnxruntime/native/linux-x64/libonnxruntime.so"


def coordinates(group: str, name: str, version: str) -> str:
    return f"<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"


def make_jar(
    bench: Bench, files: Mapping[str, bytes] | None = None, *, artifact: str = "acme:tiny", version: str = "1.2.3",
    file_name: str = "tiny-1.2.3.jar", poms: int = 1, license_: str = "MIT", runtime_range: str = "[1.19,)",
    change: tuple[str, str] = ("", ""), described: str = "<name>tiny</name>",
) -> list[Path]:  # fmt: skip
    group, _, name = artifact.partition(":")
    licensed = f"<licenses><license><name>{license_}</name></license></licenses>" if license_ else ""
    needed = f"<dependency>{coordinates(*ORT, runtime_range)}</dependency>" if runtime_range else ""
    content = f"{coordinates(group, name, version)}{described}{licensed}<dependencies>{needed}</dependencies>"
    pom = f'<project xmlns="http://maven.apache.org/POM/4.0.0">{content}</project>'.replace(*change, 1)
    metadata = {f"META-INF/maven/{group}/{name}{number or ''}/pom.xml": pom.encode() for number in range(poms)}
    native = {"native/linux-x64/libtiny.so": bench.good()} if files is None else files
    return [write(bench.folder / file_name, {"META-INF/LICENSE": b"MIT", **metadata, **native})]


jar = made_by(make_jar)


def hold_runtime(artifact: str, **how: str):
    return jar({PLACE: contents(runtime())}, artifact=artifact, **how)


PARENT = "<parent><artifactId>all</artifactId></parent><groupId>"
SUPPLIER = hold_runtime(":".join(ORT), file_name="onnxruntime-1.2.3.jar", runtime_range="")


CASES = [
    Case("LB302", "a library of another processor", jar({"native/linux-x64/libtiny.so": good(ARM)}), jar(),
         at="native/linux-x64/libtiny.so", says="arm64"),
]  # fmt: skip
