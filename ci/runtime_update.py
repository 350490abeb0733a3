"""Shows what an update of ONNX Runtime does to a program that links it, and to one that binds it late.

    python -m ci.runtime_update

One C file is built twice on Linux: linked with an older ONNX Runtime, and with latebind's stub. Both programs run, then
the library in the system's folder is replaced by a newer one, as a distribution does, and both run again.
docs/index.md shows the result.
"""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OLD = "1.19.2"
_SECONDS = 600
_SOURCE = """
#include <stdint.h>
#include <stdio.h>
typedef struct { const void *(*GetApi)(uint32_t version); const char *(*GetVersionString)(void); } OrtApiBase;
const OrtApiBase *OrtGetApiBase(void);
int main(void) { printf("uses ONNX Runtime %s\\n", OrtGetApiBase()->GetVersionString()); return 0; }
"""


def show_update(folder: Path) -> dict[str, tuple[str, str]]:
    """What each program prints before and after the update, by its name, in an empty folder.

    Raises CalledProcessError when a step fails, and FileNotFoundError where there is no C compiler.
    """
    (folder / "version.c").write_text(_SOURCE, "utf-8")
    newest = importlib.metadata.distribution("onnxruntime")
    _run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--target", "old", f"onnxruntime=={OLD}",
         cwd=folder)  # fmt: skip
    _run(sys.executable, "-m", "latebind", "stub", "onnxruntime", "--output", "stubs", cwd=folder)
    system = folder / "lib"
    _install(folder / f"old/onnxruntime/capi/libonnxruntime.so.{OLD}", system)
    (stub,) = (folder / "stubs").glob("*/lib/libonnxruntime.a")
    _run("cc", "version.c", f"-L{system}", "-lonnxruntime", "-o", "linked", cwd=folder)
    _run("cc", "version.c", str(stub), "-ldl", "-pthread", "-o", "late", cwd=folder)
    before = [_print_of(folder, name) for name in ("linked", "late")]
    _install(Path(str(newest.locate_file(f"onnxruntime/capi/libonnxruntime.so.{newest.version}"))), system)
    after = [_print_of(folder, name) for name in ("linked", "late")]
    return dict(zip(("linked", "late"), zip(before, after, strict=True), strict=True))


def _install(library: Path, system: Path) -> None:
    """Make it the one runtime of the system, with the links of a distribution's package."""
    shutil.rmtree(system, ignore_errors=True)
    system.mkdir()
    shutil.copy2(library, system)
    (system / "libonnxruntime.so.1").symlink_to(library.name)
    (system / "libonnxruntime.so").symlink_to("libonnxruntime.so.1")


def _print_of(folder: Path, program: str) -> str:
    # Nothing is inherited: a virtual environment or a variable of this shell may name another runtime.
    environment = {"LD_LIBRARY_PATH": str(folder / "lib")}
    ended = subprocess.run(
        [f"./{program}"], cwd=folder, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    return (ended.stdout + ended.stderr).strip().replace(f"{folder}/", "")


def _run(*arguments: str, cwd: Path) -> None:
    subprocess.run(arguments, cwd=cwd, timeout=_SECONDS, check=True)


def main() -> int:
    """Print a table of four runs."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (before, after) in show_update(Path(folder)).items():
            print(f"{name}\n  before the update: {before}\n  after the update:  {after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
