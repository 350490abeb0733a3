"""Image against three independent readers, on binaries that others published; see DIFFERENCES for what is explained.

Wheels are downloaded by name into the folder that LATEBIND_TEST_CACHE names, or into pytest's own, and so are the
readers where they are not installed. LATEBIND_TEST_LIMIT is how many seconds of reading are enough.
"""

import importlib
import os
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from latebind.binary import is_managed, read_images, sniff

from tests.binary import differential

pytestmark = pytest.mark.slow

PROJECTS = """
    msgpack markupsafe charset-normalizer pyyaml cffi psutil regex multidict frozenlist yarl kiwisolver contourpy lxml
    pillow tokenizers pyzmq aiohttp matplotlib pandas numpy scikit-learn shapely h5py cryptography grpcio protobuf
    sherpa-onnx-core onnxruntime-genai onnxruntime torchvision
""".split()  # noqa: SIM905  # a list of names reads best so
PLATFORMS = {
    "linux": ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_28_x86_64"],
    "macos": [
        *(f"macosx_{floor}_arm64" for floor in ("11_0", "12_0", "13_0", "14_0")),
        *(f"macosx_{floor}_universal2" for floor in ("10_9", "10_13", "11_0")),
    ],
    "windows": ["win_amd64"],
}
READERS = {"elf": differential.elf, "macho": differential.macho, "pe": differential.pe}


def cut_names(fact, ours, theirs):
    """pefile cuts names after 512 bytes (MAX_SYMBOL_NAME_LENGTH); C++ has longer ones."""
    whole, cut = sorted(set(ours) - set(theirs)), sorted(set(theirs) - set(ours))
    return fact == "exports" and {(name[:512], "") for name, _ in whole} == set(cut)


def names_behind_the_limit(fact, ours, theirs):
    """pefile gives numbers in the place of names after the first 8192 (MAX_SYMBOL_EXPORT_COUNT)."""
    numbers = set(theirs) - set(ours)
    return (
        fact == "exports"
        and len(ours) == len(theirs) > 8192
        and all(name.startswith("#") for name, _ in numbers)
        and len(numbers) == len(ours) - 8192
    )


# Every difference that was ever seen, with the format that it is seen in. ELF and Mach-O have none.
DIFFERENCES = [("pe", cut_names), ("pe", names_behind_the_limit)]


def pip(*words):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="session")
def cache():
    """Opt-in: what is compared are the newest wheels of others, so a run may end otherwise from one day to the next."""
    if not os.environ.get("LATEBIND_TEST_CACHE"):
        pytest.skip("not run: set LATEBIND_TEST_CACHE to a folder for a gigabyte of published wheels")
    folder = Path(os.environ["LATEBIND_TEST_CACHE"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def readers(cache):
    """The three readers, importable."""
    names = {"elftools": "pyelftools", "macholib": "macholib", "pefile": "pefile"}
    folder = cache / "readers"
    if folder.is_dir():
        sys.path.append(str(folder))
    missing = [project for module, project in names.items() if importlib.util.find_spec(module) is None]
    if missing:
        done = pip("install", "--quiet", "--target", folder, *missing)
        if done.returncode:
            pytest.skip(f"{', '.join(missing)} cannot be installed: {done.stderr.strip()[-200:]}")
        sys.path.append(str(folder))
        importlib.invalidate_caches()


def wheels(cache, system):
    """One wheel of each project that has one for the system."""
    folder = cache / system
    folder.mkdir(exist_ok=True)
    known = {path.name.partition("-")[0].lower() for path in folder.glob("*.whl")}
    for project in PROJECTS:
        if project.replace("-", "_") in known:
            continue
        tags = [word for platform in PLATFORMS[system] for word in ("--platform", platform)]
        where = ("--dest", folder, "--no-deps", "--only-binary=:all:", "--python-version", "3.11", *tags)
        done = pip("download", "--quiet", *where, project)
        if done.returncode and "No matching distribution" not in done.stderr:
            pytest.skip(f"the package index cannot be reached: {done.stderr.strip()[-200:]}")
    found = sorted(folder.glob("*.whl"), key=lambda path: path.stat().st_size)
    if not found:
        pytest.skip("the package index has none of the wheels")
    return found


def binaries(paths):
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                with archive.open(member) as file:
                    head = file.read(4096)
                if sniff(head) and not is_managed(head):
                    yield f"{path.name}!{member}", archive.read(member)


def explained(format_, fact, ours, theirs):
    return next((why for where, why in DIFFERENCES if where == format_ and why(fact, ours, theirs)), None)


@pytest.mark.parametrize("system", PLATFORMS)
def test_image_says_what_other_readers_say(cache, readers, system):
    limit = float(os.environ.get("LATEBIND_TEST_LIMIT", "25"))
    compared, unexplained, why = 0, [], Counter()
    paths = wheels(cache, system)
    started = time.monotonic()
    for name, data in binaries(paths):
        if time.monotonic() - started > limit:
            break
        images = read_images(data, name)
        theirs = READERS[sniff(data[:4096])](data)
        assert len(images) == len(theirs), name
        for image, other in zip(images, theirs, strict=True):
            ours = differential.facts_of(image)
            assert ours.keys() == other.keys()
            for fact, value in ours.items():
                if value != other[fact]:
                    reason = explained(image.format, fact, value, other[fact])
                    why[reason.__name__ if reason else "unexplained"] += 1
                    if reason is None:
                        unexplained.append((name, image.slice, fact, shown(value, other[fact])))
        compared += len(images)
    print(f"{system}: {compared} images, differences {dict(why)}, {time.monotonic() - started:.1f} s")  # noqa: T201  # shown with -s
    assert not unexplained, unexplained[:10]
    assert compared >= 20


def shown(ours, theirs):
    """The two values, or what only one of two lists has."""
    if not isinstance(ours, list):
        return ours, theirs
    return [row for row in ours if row not in theirs][:5], [row for row in theirs if row not in ours][:5]
