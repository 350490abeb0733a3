"""The loader, one situation at a time, each in a process of its own. The runtimes here are synthetic stand-ins."""

import json
import os
import pathlib
import shutil
import struct
import sys
import tempfile

import pytest

from tests.loader.situations import (
    ENVIRONMENT,
    EXPLICIT,
    SITUATIONS,
    check_explicit,
    check_situation,
    outcomes,
    place,
)

NAME = "libonnxruntime.so.1"


def foreign_copy(programs, path, machine):
    """Give a real library with another processor written into its header (e_machine, bytes 18 and 19)."""
    data = bytearray(programs.stand_in("good").read_bytes())
    data[18:20] = struct.pack("<H", machine)
    path.write_bytes(data)
    return path


MACHINES = [(183, "aarch64"), (40, "arm"), (62, "x86_64"), (243, "riscv"), (7777, "processor number 7777")]


# ---- small parts ----


def test_units(programs):
    assert programs.run("unit").stdout == b"all well\n"


def test_addresses_are_watched_too(programs):
    if programs.sanitizers == "undefined":
        pytest.skip("not run: AddressSanitizer needs a compiler on PATH: apt-get install gcc")


# ---- an explicit path is final ----


@pytest.mark.parametrize("stand_in", EXPLICIT)
def test_explicit_file(programs, stand_in):
    check_explicit(programs, stand_in)


@pytest.mark.parametrize("name", SITUATIONS)
def test_situation(programs, name, tmp_path):
    check_situation(programs, name, tmp_path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (b"INPUT(libonnxruntime.so.1.19.2)\n", "a text file, not a library"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
        (b"MZ\x90\x00" + b"\0" * 200, "a Windows library"),
        (b"\xcf\xfa\xed\xfe" + b"\0" * 200, "a macOS library"),
        (b"PK\x03\x04" + b"\0" * 200, "a zip archive"),
        (b"!<arch>\n" + b"\0" * 200, "a static library"),
        (b"\x7fELF\x02\x01\x01", "truncated: it ends within its header, after 7 bytes"),
        (b"\0" * 500, "not a library of this system"),
        (bytes(range(1, 256)), "not a library of this system"),
        ("Überschrift\r\n\tzwei\x0c".encode() * 9, "a text file, not a library"),
    ],
)
def test_a_file_that_is_no_library_is_told_by_its_kind(programs, tmp_path, content, says):
    path = tmp_path / NAME
    path.write_bytes(content)
    answer = programs.probe("--path", path)
    assert answer["outcome"] == "not-a-library"
    assert f"{path} is not a usable library: {says}" in answer["report"]["message"]


@pytest.mark.parametrize("keep", [64, 100, 1000, 0.5, 0.8])
def test_a_truncated_library_never_reaches_the_systems_loader(programs, tmp_path, keep):
    data = programs.stand_in("good").read_bytes()
    size = keep if isinstance(keep, int) else loaded_end(data) * keep
    path = tmp_path / NAME
    path.write_bytes(data[: int(size)])
    answer = programs.probe("--path", path)
    assert answer["outcome"] == "not-a-library"
    assert "truncated" in answer["report"]["message"]


def loaded_end(data):
    """Give the end of the last loaded segment: what lies behind (debug information) is not missed."""
    start, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    segments = (struct.unpack_from("<IIQQQQ", data, start + size * i) for i in range(count))
    return max(offset + length for kind, _, offset, _, _, length in segments if kind == 1)


@pytest.mark.skipif(sys.maxsize < 2**32, reason="not run: the header's layout is that of 64 bits")
@pytest.mark.parametrize(
    ("machine", "name"),
    [machine for machine in MACHINES if machine[1] != os.uname().machine],
)
def test_another_processors_library(programs, tmp_path, machine, name):
    this_machine = os.uname().machine
    path = foreign_copy(programs, tmp_path / NAME, machine)
    answer = programs.probe("--path", path)
    assert answer["outcome"] == "wrong-architecture"
    assert f"built for {name}, this process is {this_machine}" in answer["report"]["message"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "program-of-no-kind"])
def test_a_place_that_is_no_file(programs, tmp_path, kind):
    path = tmp_path / "thing"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.symlink_to("thing")  # a link to itself
    answer = programs.probe("--path", path)
    assert answer["outcome"] == ("not-a-library" if kind in {"pipe", "device"} else "not-found")
    assert not answer["entry"]


def test_an_explicit_folder_is_searched_by_name_then_newest_first(programs, tmp_path):
    place(programs, "old", tmp_path, "libonnxruntime.so.1.9.0")
    place(programs, "good", tmp_path, "libonnxruntime.so.1.19.0")
    answer = programs.probe("--path", tmp_path)
    assert answer["report"]["path"] == str(tmp_path / "libonnxruntime.so.1.19.0")
    assert outcomes(answer) == [("explicit", "bound")]


def test_a_relative_path_is_a_path_and_never_a_name_for_the_system(programs, tmp_path):
    place(programs, "good", tmp_path)
    answer = programs.probe("--path", NAME, cwd=tmp_path)
    assert answer["report"]["path"] == str(tmp_path / NAME)
    answer = programs.probe("--path", "libc.so.6", cwd=tmp_path)
    assert outcomes(answer) == [("explicit", "not-found")]


@pytest.mark.parametrize(
    "value",
    [
        b"\xff\xfe/no",
        b"/" + b"x" * 10_000,
        b"a/" * 5_000,
        b"%s%n%s%n",
        b"$ORIGIN/$LIB",
        b'"\\\n\t\x01',
        b"~",
        b"\xe2\x82",
    ],
    ids=["not-utf8", "long-name", "long-path", "format", "tokens", "quotes", "tilde", "cut"],
)
def test_hostile_environment_variables_end_in_an_answer(programs, value):
    answer = programs.probe(environment={ENVIRONMENT: value})
    assert answer["outcome"] == "not-found"
    assert len(answer["report"]["message"]) < 2000  # the report keeps the whole, the sentence does not
    programs.run("probe", "--text", environment={ENVIRONMENT: value}).stdout.decode("utf-8")


@pytest.mark.parametrize(
    "folder", ["with space", "mit Umlaut äöü", "日本語", "quote'\"", "new\nline", "ünïcode/" + "deep/" * 40]
)
def test_paths_in_any_script(programs, tmp_path, folder):
    place(programs, "good", tmp_path / folder)
    answer = programs.probe("--dir", tmp_path / folder)
    assert answer["outcome"] == "bound"
    assert answer["report"]["path"] == f"{tmp_path}/{folder.rstrip('/')}/{NAME}"


def test_a_path_that_is_not_utf8_binds_and_is_told_in_valid_json(programs, tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff\xfe"
    os.mkdir(folder)  # noqa: PTH102 - bytes
    shutil.copy(programs.stand_in("good"), folder + b"/" + NAME.encode())
    answer = programs.probe("--dir", folder)
    assert answer["outcome"] == "bound"
    assert "\ufffd\ufffd" in answer["report"]["path"]


# ---- the order of the search ----


def test_links_to_one_file_are_tried_once(programs, tmp_path):
    place(programs, "old", tmp_path, "libonnxruntime.so.1.10.0")
    (tmp_path / "libonnxruntime.so.1").symlink_to("libonnxruntime.so.1.10.0")
    (tmp_path / "libonnxruntime.so").symlink_to("libonnxruntime.so.1")
    answer = programs.probe("--dir", tmp_path, "--no-system")
    assert [outcome for source, outcome in outcomes(answer) if source == "host"] == ["too-old"]


def test_beside_the_library_that_holds_the_loader(programs, tmp_path):
    place(programs, "good", tmp_path)
    shutil.copy(programs.folder / "probe", tmp_path / "probe")
    answer = programs.probe(program=tmp_path / "probe")
    assert outcomes(answer) == [("beside", "bound")]


def test_beside_means_the_real_folder_and_not_the_links(programs, tmp_path):
    place(programs, "good", tmp_path / "real")
    shutil.copy(programs.folder / "probe", tmp_path / "real" / "probe")
    (tmp_path / "linked").symlink_to(tmp_path / "real" / "probe")
    assert outcomes(programs.probe(program=tmp_path / "linked")) == [("beside", "bound")]


def test_the_systems_search_comes_last_and_can_be_left_out(programs, tmp_path):
    place(programs, "good", tmp_path)
    environment = {"LD_LIBRARY_PATH": str(tmp_path)}
    answer = programs.probe(environment=environment)
    assert outcomes(answer)[-1] == ("system", "bound")
    assert answer["report"]["path"] == str(tmp_path / NAME)  # the file, not the name that was asked for
    assert programs.probe("--no-system", environment=environment)["outcome"] == "not-found"


def test_a_dependency_that_the_systems_candidate_misses_is_told(programs, tmp_path):
    place(programs, "needs_gone", tmp_path)
    answer = programs.probe(environment={"LD_LIBRARY_PATH": str(tmp_path)})
    assert answer["outcome"] == "missing-dependency"
    message = answer["report"]["message"]
    assert "libgone.so" in message
    assert "Install what it needs; what belongs to its own package comes back with: " in message


NOBODY = 65534


@pytest.fixture
def unprivileged_probe(programs):
    """A folder that everybody may enter, and a way to run there as someone for whom permissions count."""
    with tempfile.TemporaryDirectory(prefix="latebind-test-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        shutil.copy(programs.folder / "probe", folder / "probe")
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}

        def run(*arguments):
            return programs.probe(*arguments, program=folder / "probe", cwd="/", **who)

        yield folder, run


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_may_not_be_read_is_refused(programs, unprivileged_probe, kind):
    folder, run = unprivileged_probe
    path = place(programs, "good", folder / "closed")
    assert run("--path", path)["outcome"] == "bound"
    closed = pathlib.Path(path) if kind == "file" else folder / "closed"
    closed.chmod(0)
    try:
        answer = run("--path", path)
    finally:
        closed.chmod(0o755)
    assert answer["outcome"] == "refused"
    assert f"{path} may not be opened: permission denied" in answer["report"]["message"]


def test_a_file_beside_the_program_that_may_not_be_read_is_no_matter_of_trust_or_of_its_package(
    programs, unprivileged_probe
):
    folder, run = unprivileged_probe
    pathlib.Path(place(programs, "good", folder)).chmod(0)
    answer = run()
    assert answer["outcome"] == "refused"
    assert answer["report"]["message"].endswith(". Correct its permissions, or those of a folder above it.")


# ---- images that are loaded already ----


def test_a_loaded_library_without_the_symbol_is_no_candidate(programs, tmp_path):
    answer = programs.probe("--preload", programs.stand_in("no_entry"), "--no-system")
    assert ("loaded", "no-entry") not in outcomes(answer)


def test_a_library_that_only_depends_on_a_runtime_is_not_taken_for_one(programs):
    answer = programs.probe("--preload", programs.stand_in("wrapper"), "--no-system")
    assert outcomes(answer) == [("loaded", "bound")]
    assert answer["report"]["path"] == str(programs.stand_in("good"))
    assert answer["report"]["images"] == 1


# ---- mistakes in the call ----


@pytest.mark.parametrize("size", [0, 4, 16])
def test_a_report_without_its_size_is_refused_and_has_a_sentence_to_print(programs, size):
    done = programs.run("probe", "--path", programs.stand_in("good"), "--report-size", str(size), "--message")
    assert done.stdout.startswith(b"invalid-argument: lb_report.size is not set. Set it to sizeof(lb_report)")


def test_a_fork_in_the_middle_of_binding_leaves_the_child_able_to_bind(programs):
    answer = programs.probe("--fork", "--path", programs.stand_in("slow"))
    assert answer["extra"] == 0


@pytest.mark.parametrize("case", ["bound", "too-old", "not-found"])
def test_memory_that_runs_out_at_any_point_ends_in_an_answer(programs, tmp_path, case):
    arguments = {
        "bound": ["--path", programs.stand_in("good")],
        "too-old": ["--dir", programs.folder / "stand-ins", "--path", programs.stand_in("old")],
        "not-found": ["--dir", tmp_path, "--no-system"],
    }[case]
    answer = programs.probe(*arguments, "--exhaust", program="probe_memory")
    assert answer["failed_allocations"] > 10
    assert (answer["bound"] > 0) == (case == "bound")


# ---- the report ----


def test_the_text_lists_every_attempt(programs, tmp_path):
    place(programs, "old", tmp_path)
    text = programs.run("probe", "--text", "--dir", tmp_path, "--dir", "/gone", "--no-system").stdout.decode()
    lines = text.splitlines()
    assert lines[0].startswith("ONNX Runtime 1.10.0")
    assert f"  1. host: {tmp_path}/{NAME}: too-old (version 1.10.0)" in lines
    assert "  2. host: /gone: not-found: no such file or folder" in lines


def test_the_json_has_its_keys(programs):
    report = programs.probe("--path", programs.stand_in("good"))["report"]
    keys = "runtime title bound path version minimum built images message warning complete attempts"
    assert list(report) == keys.split()
    assert json.dumps(report)


def test_after_a_reset_another_runtime_is_bound(programs):
    answer = programs.probe("--path", programs.stand_in("good"), "--reset-to", programs.stand_in("newer"))
    assert (answer["outcome"], answer["report"]["version"]) == ("bound", "1.999.0")
    assert answer["report"]["images"] == 1
