"""A package index of the test's own: repacked wheels of ONNX Runtime under other versions, and small wheels of onnx."""

from __future__ import annotations

import functools
import http.server
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

REAL = "1.32.0"
"""The release of ONNX Runtime that all others here are made of."""


def unpack_runtime(folder: Path) -> Path:
    """The files of a real wheel of ONNX Runtime for this machine."""
    arguments = ["--no-deps", "--only-binary", ":all:", "--target", folder, f"onnxruntime=={REAL}"]
    subprocess.run([sys.executable, "-m", "uv", "pip", "install", "--quiet", *arguments], check=True)
    return folder


def write_runtime_wheel(
    unpacked: Path, folder: Path, version: str, *, name: str = "onnxruntime", truncated: bool = False, suffix: str = ""
) -> Path:
    """A wheel of ONNX Runtime with another version in its metadata and in its library; it requires nothing.

    `suffix` is that of a pre-release, `rc1`, which the library does not have.
    """
    assert len(version) == len(REAL)
    (wheel_file,) = unpacked.glob("onnxruntime-*.dist-info/WHEEL")
    tag = next(line for line in wheel_file.read_text("utf-8").splitlines() if line.startswith("Tag: ")).split()[1]
    (library,) = [path for path in (unpacked / "onnxruntime" / "capi").glob("*onnxruntime.*") if REAL in path.name]
    data = library.read_bytes().replace(REAL.encode(), version.encode())
    inner = f"onnxruntime/capi/{library.name.replace(REAL, version)}"
    files = {inner: data[: len(data) // 2] if truncated else data}
    return write_wheel(folder, name, f"{version}{suffix}", tag, files)


def write_wheel(folder: Path, name: str, version: str, tag: str, files: Mapping[str, bytes]) -> Path:
    """A wheel that holds those files."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    wheel = folder / f"{name}-{version}-{tag}.whl"
    texts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: {tag}\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, data in [*files.items(), *texts.items()]:
            archive.writestr(path, data)
        record = "".join(f"{path},,\n" for path in (*files, *texts, f"{info}/RECORD"))
        archive.writestr(f"{info}/RECORD", record)
    return wheel


def write_index(root: Path, day: str, wheels: list[Path], yanked: tuple[str, ...] = ()) -> None:
    """The pages of a simple index, as they are on one day; wheels are below `root`."""
    for name in {wheel.name.split("-")[0] for wheel in wheels}:
        page = root / day / "simple" / name.replace("_", "-") / "index.html"
        page.parent.mkdir(parents=True)
        links = [
            f'<a href="/{wheel.relative_to(root).as_posix()}"'
            + (' data-yanked="broken"' if wheel.name.split("-")[1] in yanked else "")
            + f">{wheel.name}</a>"
            for wheel in wheels
            if wheel.name.split("-")[0] == name
        ]
        page.write_text(f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>", encoding="utf-8")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serve(root: Path) -> Iterator[str]:
    """The address of a server for a folder."""
    handler = functools.partial(_Quiet, directory=str(root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
