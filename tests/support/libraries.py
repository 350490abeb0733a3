"""Binds public C libraries by latebind's descriptions or those in examples/stubs: versions of each, none, one too old.

The libraries come from Debian's releases and from wheels. Nothing of them is installed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ci.machines import NotAvailableError
from ci.machines.debian import unpack

ROOT = Path(__file__).resolve().parents[2]
STUBS = ROOT / "examples" / "stubs"
_CACHE = Path(os.environ.get("LATEBIND_BENCH_CACHE") or Path.home() / ".cache" / "latebind-bench") / "libraries"
_PROGRAM = """\
#include <stdio.h>
#include <string.h>
#include "latebind_{name}.h"
{declared}
int main(void) {{
  char text[400] = "";
  {code}
  printf("%s|%s|%s\\n", lb_{name}_version(), text, lb_{name}_message());
  return 0;
}}
"""


@dataclass(frozen=True)
class Library:
    """A library, what a program calls of it, and where copies are from."""

    name: str
    """In its description."""
    copies: tuple[str, ...]
    """`suite:packages` of Debian or `pypi:requirement`, the one whose functions the stub has first."""
    files: str
    """A pattern for the library in what is unpacked."""
    declared: str
    code: str


LIBRARIES = {
    "libpq": Library(
        "libpq",
        ("bookworm:libpq5", "pypi:psycopg2-binary==2.9.13"),
        "libpq*.so.5*",
        "int PQlibVersion(void); void* PQconnectStart(const char*); const char* PQerrorMessage(const void*);",
        'void* c = PQconnectStart("host=/gone"); snprintf(text, sizeof text, "%d %.40s", c != 0, PQerrorMessage(c));',
    ),
    "libusb": Library(
        "libusb",
        ("bookworm:libusb-1.0-0", "bullseye:libusb-1.0-0", "pypi:libusb-package==1.0.30.0"),
        "libusb-1.0.so*",
        "const char* libusb_error_name(int);",
        'snprintf(text, sizeof text, "%.40s", libusb_error_name(-1));',
    ),
    "portaudio": Library(
        "portaudio",
        ("bookworm:libportaudio2 libjack-jackd2-0 libasound2 libdb5.3",),
        "libportaudio.so.2*",
        "const char* Pa_GetErrorText(int); double Pa_GetStreamTime(void*);",
        'snprintf(text, sizeof text, "%.40s", Pa_GetErrorText(-10000));',
    ),
    "ffmpeg": Library(
        "libavutil",
        ("pypi:av==12.3.0", "pypi:av==14.0.0"),
        "libavutil*.so.*",
        "const char* av_version_info(void);",
        'snprintf(text, sizeof text, "%.40s", av_version_info());',
    ),
    "libcrypto": Library(
        "libcrypto",
        ("bookworm:libssl3", "pypi:psycopg2-binary==2.9.13"),
        "libcrypto*.so.3*",
        "int RAND_bytes(unsigned char*, int);",
        'unsigned char b[4]; snprintf(text, sizeof text, "%d", RAND_bytes(b, 4));',
    ),
    "zlib": Library(
        "zlib",
        ("bookworm:zlib1g", "trixie:zlib1g"),
        "libz.so.1*",
        "int compress(unsigned char*, unsigned long*, const unsigned char*, unsigned long);",
        "unsigned char b[99]; unsigned long n = sizeof b;\n"
        '  snprintf(text, sizeof text, "%d", compress(b, &n, (const unsigned char*)"aaaa", 4));',
    ),
    "cudart": Library(
        "cudart",
        ("pypi:nvidia-cuda-runtime==13.5.37", "pypi:nvidia-cuda-runtime-cu12==12.4.127"),
        "libcudart.so.*",
        "const char* cudaGetErrorString(int);",
        'snprintf(text, sizeof text, "%.40s", cudaGetErrorString(35));',
    ),
}


def find_copy(copy: str, files: str) -> Path | None:
    """The library of a copy, which is downloaded once; None where it is not to be had."""
    origin, _, package = copy.partition(":")
    folder = _CACHE / re.sub("[^a-z0-9.]+", "-", copy)
    if not folder.is_dir():
        with TemporaryDirectory() as scratch:
            try:
                _download(origin, package, Path(scratch))
            except (NotAvailableError, subprocess.CalledProcessError) as error:
                print(f"{copy} is not to be had: {error}", file=sys.stderr)
                return None
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(scratch, folder, symlinks=True)
    return next((path.resolve() for path in sorted(folder.rglob(files)) if path.is_file()), None)


def _download(origin: str, package: str, folder: Path) -> None:
    if origin != "pypi":
        unpack(package.split(), folder, suite=origin)
        return
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "--dest", folder, package], check=True)
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder)
        wheel.unlink()


def find_description(key: str) -> str:
    """What `latebind stub` is given: the file in examples/stubs, or the name of a library that latebind describes."""
    file = STUBS / f"{key}.toml"
    return str(file) if file.is_file() else key


def build_program(key: str, first: Path, folder: Path, minimum: int = 0) -> Path:
    """A program on the stub of a library, whose functions are those of the file `first`."""
    library, program = LIBRARIES[key], folder / "program"
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "latebind", "stub", find_description(key), "--source"]
    subprocess.run([*command, "--functions", first, "--output", folder], check=True, capture_output=True)
    text = _PROGRAM.format(name=library.name, declared=library.declared, code=library.code)
    (folder / "program.c").write_text(text, encoding="utf-8")
    compiler = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-ldl", "-pthread"]
    if minimum:
        numbers = {"MAJOR": minimum, "MINOR": 0, "PATCH": 0}
        compiler += [f"-DLATEBIND_{library.name.upper()}_MINIMUM_{part}={number}" for part, number in numbers.items()]
    sources = [folder / "program.c", folder / f"latebind_{library.name}.c"]
    subprocess.run([*compiler, *sources, "-o", program], check=True)
    return program


def run_program(program: Path, name: str, place: Path) -> str:
    """The version, what the call gave, and the message."""
    environment = {f"{name.upper()}_LIB_PATH": str(place), "LD_LIBRARY_PATH": str(place.parent)}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip() + (f" [{done.returncode}]" if done.returncode else "")


def main(argv: list[str] | None = None) -> int:
    """Print what each library gives in each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*LIBRARIES, []], help="libraries (default: all)")
    for key in parser.parse_args(argv).names or LIBRARIES:
        library = LIBRARIES[key]
        files = {copy: file for copy in library.copies if (file := find_copy(copy, library.files))}
        if not files:
            continue
        first = next(iter(files.values()))
        with TemporaryDirectory() as folder, TemporaryDirectory() as other:
            program = build_program(key, first, Path(folder))
            for copy, file in files.items():
                print(f"{key:10} {copy:30} {run_program(program, library.name, file)}")
            print(f"{key:10} {'absent':30} {run_program(program, library.name, Path('/gone'))}")
            strict = build_program(key, first, Path(other), minimum=999)
            print(f"{key:10} {'too old':30} {run_program(strict, library.name, first)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
