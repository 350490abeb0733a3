"""JARs that checks of several kinds of packages judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus.cases.case import Case, contents, dll, dylib, good, made_by, runtime
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
X86, ARM32 = "x86-linux-gnu.2.28", "arm-linux-gnueabihf.2.28"


def hold_runtime(artifact: str, **how: str):
    return jar({PLACE: contents(runtime())}, artifact=artifact, **how)


PARENT = "<parent><artifactId>all</artifactId></parent><groupId>"
SUPPLIER = hold_runtime(":".join(ORT), file_name="onnxruntime-1.2.3.jar", runtime_range="")


CASES = [
    Case("LB302", "a library of another processor", jar({"native/linux-x64/libtiny.so": good(ARM)}), jar(),
         at="native/linux-x64/libtiny.so", says="arm64"),
    *(Case("LB302", f"a library for {what} in {folder}, and one that fits", jar({f"{folder}/libtiny.so": bad}),
           jar({f"{folder}/libtiny.so": fine}), at=f"!{folder}/libtiny.so", says=says)
      for what, folder, bad, fine, says in (
          ("x64", "jni/arm64-v8a", good(), good(ARM), "but the folder arm64-v8a promises Linux on arm64"),
          ("arm64", "jniLibs/x86_64", good(ARM), good(), "but the folder x86_64 promises Linux on x64"),
          ("x64", "jniLibs/x86", good(), good(X86), "but the folder x86 promises Linux on x86"),
          ("arm64", "lib/armeabi-v7a", good(ARM), good(ARM32), "but the folder armeabi-v7a promises Linux on armv7l"),
          ("arm64", "lib/armeabi", good(ARM), good(ARM32), "but the folder armeabi promises"),
          ("x64", "prefab/modules/tiny/libs/android.arm64-v8a", good(), good(ARM), "the folder arm64-v8a promises"),
          ("arm64", "prefab/modules/tiny/libs/android.x86_64", good(ARM), good(), "the folder x86_64 promises"),
          ("macOS", "jni/arm64-v8a", dylib(), good(ARM), "is for macOS on arm64"))),
    *(Case("LB302", f"a library in a folder of Android, and in {folder}", jar({"jni/x86_64/libtiny.so": good(ARM)}),
           jar({f"{folder}/tiny": data}), at="!jni/x86_64/libtiny.so", says="is for Linux on arm64")
      for folder, data in (("lib/x86_64", good(ARM)), ("x86", good()), ("jni/windows/x86_64", dll()),
                           ("jni/macos/x86_64", dylib()), ("com/acme/x86_64", dylib()))),
    Case("LB302", "the inner of two folders with the names of ABIs",
         jar({"arm64-v8a/jni/x86_64/libtiny.so": good(ARM)}), jar({"arm64-v8a/jni/x86_64/libtiny.so": good()}),
         at="!arm64-v8a/jni/x86_64/libtiny.so", says="but the folder x86_64 promises Linux on x64"),
]  # fmt: skip
