"""The system's own search, walked by the loader: which folders count, that heads are read, never the current folder."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from tests.loader.situations import outcomes, place
from tests.loader.test_loader import ENVIRONMENT, NAME
from tests.support.needs import require_programs
from tests.support.running import run_checked, run_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not run: LD_LIBRARY_PATH and ldconfig are Linux's")
LDCONFIG = shutil.which("ldconfig", path=f"/sbin:/usr/sbin:{os.environ.get('PATH', '')}")


LISTS = ("", ":", ".", "./", "..", "sub", ":/gone", "/gone:", "/gone::/gone", ";", "$ORIGIN/..")


@pytest.fixture
def here(programs, tmp_path):
    """A folder to start in, which has a runtime, as have the one above and one below it."""
    folder = tmp_path / "sub"
    for each in (tmp_path, folder, folder / "sub"):
        place(programs, "good", each)
    return folder


@pytest.mark.parametrize("value", LISTS)
def test_the_current_folder_is_never_searched(programs, here, value):
    answer = programs.probe(environment={"LD_LIBRARY_PATH": value}, cwd=here)
    assert answer["outcome"] == "not-found"
    assert not answer["entry"]


@pytest.mark.parametrize("value", [NAME, ".", "..", "sub"])
def test_a_variable_that_names_no_place_does_not_mean_the_current_folder(programs, here, value):
    answer = programs.probe(environment={ENVIRONMENT: value}, cwd=here)
    assert answer["outcome"] == "not-found"
    assert f"was not found at {value}, which {ENVIRONMENT} names" in answer["report"]["message"]


@pytest.mark.parametrize("value", ["./", "../", f"./{NAME}", f"sub/{NAME}", f"../sub/{NAME}"])
def test_a_path_in_the_variable_may_be_relative_as_for_the_system(programs, here, value):
    answer = programs.probe(environment={ENVIRONMENT: value}, cwd=here)
    assert answer["outcome"] == "bound"


def test_a_bare_name_in_the_variable_is_looked_up_as_the_system_would(programs, tmp_path):
    path = place(programs, "good", tmp_path, "libthat.so.7")
    answer = programs.probe(environment={ENVIRONMENT: "libthat.so.7", "LD_LIBRARY_PATH": str(tmp_path)})
    assert answer["report"]["path"] == str(path)


def test_heads_are_read_of_what_the_system_would_find_and_the_search_goes_on(programs, tmp_path):
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / NAME).write_text("no")
    short = place(programs, "good", tmp_path / "short")
    os.truncate(short, 5000)
    place(programs, "good", tmp_path / "good")
    folders = ":".join(str(tmp_path / name) for name in ("text", "short", "good"))
    answer = programs.probe(environment={"LD_LIBRARY_PATH": folders})
    tried = [(attempt["path"], attempt["outcome"]) for attempt in answer["report"]["attempts"]][-3:]
    assert tried == [
        (str(tmp_path / "text" / NAME), "not-a-library"),
        (str(tmp_path / "short" / NAME), "not-a-library"),
        (str(tmp_path / "good" / NAME), "bound"),
    ]


def test_what_is_nowhere_says_where_it_was_looked_for(programs, tmp_path):
    answer = programs.probe(environment={"LD_LIBRARY_PATH": str(tmp_path)})
    last = answer["report"]["attempts"][-1]
    assert (last["source"], last["outcome"]) == ("system", "not-found")
    assert last["detail"].startswith("not in LD_LIBRARY_PATH")


def test_the_run_paths_of_the_library_that_holds_the_loader_are_searched(programs, tmp_path):
    place(programs, "good", tmp_path / "deps")
    program = shutil.copy(programs.folder / "probe_run_path", tmp_path)
    answer = programs.probe(program=program, cwd="/")
    assert outcomes(answer)[-1] == ("system", "bound")
    assert answer["report"]["path"] == str(tmp_path / "deps" / NAME)


def test_the_run_paths_of_the_program_are_searched_for_a_library_elsewhere(plain, tmp_path):
    """As they are for a runtime that the program itself links: build trees of CMake and Conan have such."""
    require_programs("cc")
    runtime = place(plain, "good", tmp_path / "runtime")
    (tmp_path / "lib").mkdir()
    library = shutil.copy(plain.folder / "libmine.so", tmp_path / "lib")
    host = pathlib.Path(__file__).with_name("hostile") / "host.c"
    printed = {}
    for folder in (runtime.parent, tmp_path / "none"):
        command = ["cc", host, "-o", "program", f"-Wl,-rpath,{folder}", "-Wl,--enable-new-dtags", "-ldl", "-pthread"]
        run_checked(*command, cwd=tmp_path)
        ended = run_program(tmp_path / "program", library, env={"HOME": str(tmp_path)})
        printed[folder] = ended.stdout.partition("\n")[0]
    found, missing = printed.values()
    assert found == str(runtime)
    assert missing.startswith("ONNX Runtime was not found in")


# ---- ldconfig's cache ----


def place_cached(programs, folder):
    folder.mkdir()
    shutil.copy(programs.folder / "cached" / "libonnxruntime.so.1.25.3", folder)
    (folder / NAME).symlink_to("libonnxruntime.so.1.25.3")


@pytest.fixture(params=["new", "compat"])
def cache(request, programs, tmp_path):
    """A cache of one folder that holds a library, as ldconfig itself writes it."""
    if LDCONFIG is None:
        pytest.skip("not run: there is no ldconfig here: apt-get install libc-bin")
    folder = tmp_path / "libraries"
    place_cached(programs, folder)
    (tmp_path / "conf").write_text(f"{folder}\n")
    path = tmp_path / "cache"
    done = run_program(LDCONFIG, "-X", "-c", request.param, "-f", tmp_path / "conf", "-C", path)
    if not path.exists():
        pytest.skip(f"not run: this ldconfig makes no cache: {done.stderr[-200:]}")
    return path


def search_cache(programs, cache, name):
    return programs.run("heads", "cache", cache, name).stdout.decode().splitlines()


def test_the_cache_gives_the_file_of_a_name(programs, cache, tmp_path):
    assert search_cache(programs, cache, NAME) == [str(tmp_path / "libraries" / NAME)]
    listed = run_checked(LDCONFIG, "-p", "-C", cache)
    entries = [line.split() for line in listed.splitlines() if " => " in line]
    for entry in entries[:20]:
        assert entry[-1] in search_cache(programs, cache, entry[0])
    assert search_cache(programs, cache, "libonnxruntime.so.*") == [str(tmp_path / "libraries" / NAME)]
    assert search_cache(programs, cache, "libnowhere.so.1") == []
    assert search_cache(programs, cache, "") == []


def test_a_cache_that_is_cut_or_damaged_gives_nothing_wrong(programs, cache, tmp_path):
    data = cache.read_bytes()
    damaged = tmp_path / "damaged"
    cuts = [data[:size] for size in (0, 1, 20, 47, 48, 60, len(data) // 2, len(data) - 1)]
    start = data.index(b"glibc-ld.so.cache")
    numbers = range(start, min(start + 160, len(data) - 4), 4)
    cuts += [data[:at] + b"\xff\xff\xff\xff" + data[at + 4 :] for at in numbers]
    for cut in cuts:
        damaged.write_bytes(cut)
        for path in search_cache(programs, damaged, NAME):
            assert path.startswith("/")


def test_a_runtime_in_the_systems_cache_is_bound(programs, cache, tmp_path):
    command = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/ld.so.cache && exec "$@"', cache]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("not run: no private mounts here (unshare -m)")
    printed = run_checked(*command, programs.folder / "probe", "--message")
    where = tmp_path / "libraries" / NAME
    assert printed == f"bound: ONNX Runtime 1.25.3 is bound from {where} (source: system)\n"


def test_a_library_with_its_version_in_the_name_is_found(programs, tmp_path):
    """As Debian's package has it."""
    place(programs, "old", tmp_path).rename(tmp_path / "libonnxruntime.so.1.10")
    path = place(programs, "good", tmp_path).rename(tmp_path / "libonnxruntime.so.1.25")
    answer = programs.probe(environment={"LD_LIBRARY_PATH": str(tmp_path)})
    assert answer["report"]["path"] == str(path)


@pytest.mark.skipif(
    not pathlib.Path("/etc/ld.so.cache").exists(), reason="not run: this system has no cache of ldconfig"
)
def test_this_systems_own_cache_is_read(programs):
    assert any(pathlib.Path(path).exists() for path in search_cache(programs, "/etc/ld.so.cache", "libc.so.6"))
