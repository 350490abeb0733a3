import json
import os
import struct
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest

from corpus.cases.layout import split
from corpus.packages import pe, universal
from loadcheck.audit import audit_here, audit_paths
from loadcheck.engine.policy import Policy, Waiver
from loadcheck.engine.subjects import find_subjects
from loadcheck.errors import InputError, UserError
from loadcheck.reports.console import audit_text

MACHO = bytes.fromhex("cffaedfe0c000001") + bytes(16)


def test_a_folder_stands_for_the_packages_below_it(bench):
    bench.wheel(version="1.0.0")
    bench.nupkg()
    (bench.folder / "SHA256SUMS").write_text("x")

    assert [(path.suffix, kind) for path, kind in find_subjects([bench.folder])[0]] == [
        (".nupkg", "nupkg"),
        (".whl", "wheel"),
    ]


def test_a_folder_of_packages_is_audited_itself_only_for_a_binary(bench):
    (package,) = bench.wheel()
    (bench.folder / "SHA256SUMS").write_text("x")
    assert find_subjects([bench.folder])[0] == [(package, "wheel")]

    bench.bare("liblatenn.so", bench.good())

    assert find_subjects([bench.folder])[0] == [(bench.folder, "folder"), (package, "wheel")]


def test_a_stage_folder_is_audited_itself(bench):
    path = bench.folder / "linux-x64" / "core" / "liblatenn.so"
    path.parent.mkdir(parents=True)
    path.write_bytes(bench.linked_library())

    report = audit_here([bench.folder / "linux-x64"], Policy())

    assert report.subjects == 1
    assert "LB107" in {finding.code for finding in report.findings}
    assert all(finding.subject == path.as_posix() for finding in report.findings if finding.code == "LB107")


def test_the_same_path_twice_is_one_subject(bench):
    paths = bench.wheel()
    assert audit_here([*paths, *paths, bench.folder]).subjects == 1


def test_links_that_leave_a_folder_are_not_followed(bench):
    bench.bare("stage/liblatenn.so.1", bench.good())
    (bench.folder / "stage" / "liblatenn.so").symlink_to("liblatenn.so.1")
    (bench.folder / "stage" / "loop").symlink_to(bench.folder)

    report = audit_here([bench.folder / "stage"])

    assert {skip.subject.rpartition("/")[2] for skip in report.skipped} == {"loop"}


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no pipes in the file system")
def test_a_pipe_in_a_folder_does_not_hang(bench):
    bench.bare("stage/liblatenn.so", bench.good())
    os.mkfifo(bench.folder / "stage" / "pipe")
    assert audit_here([bench.folder / "stage"]).subjects == 1


@pytest.mark.parametrize("data", [MACHO, pe(managed=False)[:150]], ids=["macho", "pe"])
def test_checks_of_an_unreadable_binary_are_skipped(bench, data):
    report = audit_here(bench.wheel({"latenn/liblatenn.x": data}, tag="py3-none-any"))

    skipped = [skip for skip in report.skipped if skip.subject.endswith("!latenn/liblatenn.x")]
    assert {"LB106", "LB107", "LB301"} <= {skip.check for skip in skipped}
    assert {skip.reason for skip in skipped} == {"the file cannot be read"}
    assert "LB604" in {finding.code for finding in report.findings}


def test_a_finding_of_both_slices_is_one_finding(bench):
    library = universal(bench.dylib("x86_64-macos.14.0"), bench.dylib("aarch64-macos.14.0"))
    report = audit_here(bench.mac(library, "py3-none-macosx_11_0_universal2"))
    (finding,) = [finding for finding in report.findings if finding.code == "LB308"]
    assert finding.evidence[-1] == "in the slice x86_64 and arm64"


def test_an_archive_of_universal_object_files_is_skipped(bench):
    archive = universal(b"!<arch>\n" + bytes(60))
    report = audit_here(bench.bare("libx.a", archive))
    assert {skip.reason for skip in report.skipped} == {"the file is an archive of object files"}


def test_a_managed_assembly_is_no_native_binary(bench):
    group = '<dependencies><group targetFramework="netstandard2.0"/></dependencies>'
    report = audit_here(bench.nupkg({"lib/netstandard2.0/Latenn.dll": pe(managed=True)}, extra=group))
    assert report.findings == ()
    assert report.skipped == ()


def test_object_files_are_skipped(bench):
    data = bench.compiler.thing("int latenn_f(void) { return 1; }\n").read_bytes()
    report = audit_here(bench.bare("x.o", data))
    assert {skip.reason for skip in report.skipped} == {"object files are not loaded"}


def test_code_of_a_coprocessor_is_skipped(bench):
    data = bytearray(bench.linked_library())
    assert any(
        finding.code == "LB107" for finding in audit_here(bench.bare("libskel.so", bytes(data)), Policy()).findings
    )
    data[18:20] = (164).to_bytes(2, "little")  # e_machine: EM_QDSP6
    report = audit_here(bench.bare("libskel.so", bytes(data)))
    assert not [finding for finding in report.findings if finding.code < "LB3"]
    assert "hexagon code runs on a coprocessor, or without a system" in {skip.reason for skip in report.skipped}


@pytest.mark.parametrize(("system", "number"), [("netbsd", 2), ("solaris", 6), ("freebsd", 9), ("openbsd", 12)])
def test_files_of_other_systems_are_skipped(bench, system, number):
    data = bytearray(bench.linked_library())
    data[7] = number  # EI_OSABI
    report = audit_here(bench.bare("libtiny.so", bytes(data)))
    assert report.findings == ()
    assert {skip.reason for skip in report.skipped} == {f"{system} has its own rules for binaries"}


@pytest.mark.parametrize(("machine", "name"), [(83, "avr"), (190, "cuda"), (224, "amdgpu"), (247, "bpf")])
def test_data_for_other_processors_is_not_damaged(bench, machine, name):
    path = bench.bare("kernel.cubin", firmware(machine))
    report = audit_here(path)
    assert report.findings == ()
    assert {skip.reason for skip in report.skipped} == {f"{name} code runs on a coprocessor, or without a system"}


def test_a_program_that_no_system_can_map_is_firmware_and_a_library_is_damaged(bench):
    report = audit_here(bench.bare("board.elf", firmware(40)))
    assert report.findings == ()
    assert {skip.reason for skip in report.skipped} == {"armv7l code runs on a coprocessor, or without a system"}
    codes = [finding.code for finding in audit_here(bench.bare("lib.so", firmware(40, kinds=(1, 2)))).findings]
    assert codes == ["LB604"]


def firmware(machine: int, kinds: tuple[int, ...] = (1,)) -> bytes:
    """A program whose segments are where no page of memory can be."""
    segments = [struct.pack("<IIQQQQQQ", kind, 5, 0x200, 0x8000000, 0, 0x40, 0x40, 8) for kind in kinds]
    header = struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, len(segments), 64, 0, 0)
    return (b"\x7fELF\2\1\1".ljust(16, b"\0") + header + b"".join(segments)).ljust(4096, b"\0")


def test_a_static_program_has_no_complaint(bench):
    """A program that is linked statically has no dynamic table at all."""
    thing = bench.compiler.thing('.globl _start\n_start: ret\n.section .note.GNU-stack,"",@progbits\n', file="x.s")
    path = bench.folder / "program"
    bench.compiler._run(path, ["ld.lld", "-static", str(thing)])
    assert [finding for finding in audit_here([path]).findings if finding.severity == "error"] == []


@pytest.mark.parametrize("name", ["missing.whl", "missing"])
def test_a_missing_path_is_an_input_error(bench, name):
    with pytest.raises(InputError, match="no such file"):
        audit_paths([bench.folder / name])


def test_a_text_file_is_an_input_error(bench):
    with pytest.raises(InputError, match="neither a package nor a native binary"):
        audit_paths(bench.bare("notes.txt", b"hello"))


def test_a_zip_under_any_name_is_an_archive(bench):
    (path,) = bench.wheel({"latenn/liblatenn.so": bench.linked_library()})
    report = audit_here([path.rename(path.with_suffix(".jar"))], Policy())
    assert "LB107" in {finding.code for finding in report.findings}


def test_waived_findings_are_kept_with_their_reason(bench):
    waiver = Waiver(code="LB611", subject="latenn-*.whl!*", reason="a sample, not a secret")
    policy = Policy(waivers=(waiver,))

    report = audit_here(bench.wheel({"latenn/.env": b"x"}), policy)

    assert "LB611" not in {finding.code for finding in report.findings}
    assert [(waiver.finding.code, waiver.reason) for waiver in report.waived] == [("LB611", "a sample, not a secret")]


def test_a_waiver_without_a_reason_is_refused():
    with pytest.raises(UserError, match="has no reason"):
        Waiver(code="LB101", subject="*", reason=" ")


def test_missing_parts_are_reported(bench):
    report = audit_here(split()(bench)[:1])
    assert [(skip.check, skip.reason) for skip in report.skipped if skip.check == "LB410"] == [
        ("LB410", "this audit includes none of its parts")
    ]
    assert report.findings == ()


def test_nothing_is_written(bench):
    paths = bench.wheel()
    before = sorted(bench.folder.rglob("*"))
    audit_here(paths)
    assert sorted(bench.folder.rglob("*")) == before


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no pipes in the file system")
@pytest.mark.parametrize("name", ["pipe.whl", "pipe.so", "pipe"])
def test_a_pipe_is_refused_and_never_opened(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match="a pipe, a socket or a device"):
        find_subjects([tmp_path / name])


def test_an_empty_folder_is_refused(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    with pytest.raises(InputError, match="nothing to audit"):
        find_subjects([tmp_path])


@pytest.mark.skipif(
    not hasattr(os, "seteuid") or os.geteuid() != 0, reason="not run: only root can become another user"
)
def test_what_may_not_be_read_is_a_finding_and_the_rest_is_audited(bench):
    wheel = bench.wheel()[0]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "open.whl").write_bytes(wheel.read_bytes())
        (folder / wheel.name).write_bytes(wheel.read_bytes())
        (folder / "unknown").write_bytes(b"x")
        (folder / "closed").mkdir()
        folder.chmod(0o755)
        for name in (wheel.name, "unknown", "closed"):
            (folder / name).chmod(0)
        os.seteuid(65534)
        try:
            with pytest.raises(PermissionError):
                (folder / "new").write_bytes(b"")
            report = audit_here([folder])
            for path in (folder / "closed", folder / wheel.name):
                with pytest.raises(InputError, match="Permission denied"):
                    find_subjects([path])
        finally:
            os.seteuid(0)
    unread = {finding.subject for finding in report.findings if finding.code == "LB601"}
    assert unread == {wheel.name, f"{folder}/unknown", f"{folder}/closed"}
    assert {finding.message for finding in report.findings if finding.code == "LB601"} == {
        "cannot be read: Permission denied"
    }
    assert {"open.whl", str(folder)} <= set(report.packages)


def test_only_an_archive_that_says_it_holds_symbols_is_passed_over(tmp_path):
    for name, inside in (("tiny-1.0-linux-x64-symbols.zip", "symbols.json"), ("their-symbols.zip", "x.txt")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(inside, "{}")
    (tmp_path / "broken-symbols.zip").write_bytes(b"no zip")
    names = [path.name for path, _ in find_subjects([tmp_path])[0]]
    assert names == ["broken-symbols.zip", "their-symbols.zip"]


def test_what_is_no_package_is_named_beside_packages_and_refused_alone(bench, tmp_path):
    (bench.folder / "SHA256SUMS").write_text("0 *a.whl\n", encoding="utf-8")
    (bench.folder / "symbols").mkdir()
    wheel = bench.wheel()[0]
    report = audit_here([wheel, bench.folder / "SHA256SUMS", bench.folder / "symbols"])
    assert report.packages == (wheel.name,)
    text = audit_text(report, verbose=True)
    assert f"{bench.folder}/SHA256SUMS: is neither a package nor a native binary" in text
    assert f"{bench.folder}/symbols: this folder has nothing to audit" in text
    with pytest.raises(InputError, match="is neither a package nor a native binary"):
        audit_here([bench.folder / "SHA256SUMS"])


def test_a_binary_that_is_too_large_is_an_error_and_is_not_read(tmp_path):
    with (tmp_path / "large.so").open("wb") as file:
        file.write(b"\x7fELF\2\1\1" + bytes(57))
        file.truncate(4 * 1024**3)
    started = time.monotonic()
    (finding,) = audit_here([tmp_path / "large.so"]).findings
    assert (finding.code, finding.severity) == ("LB604", "error")
    assert "has 4.3 GB, but loadcheck reads at most 2.1 GB" in finding.message
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("label", ["x8664v3", "cuda_13.0"])
def test_the_label_of_a_wheel_variant_is_no_error(bench, label):
    described = {"default-priorities": {}, "providers": {}, "variants": {label: {}}}
    files = {"latenn/data.txt": b"x", "latenn-1.0.dist-info/variant.json": json.dumps(described).encode()}
    wheel = bench.wheel(files)[0]
    variant = wheel.rename(wheel.with_name(f"{wheel.stem}-{label}.whl"))
    assert not [finding for finding in audit_here([variant]).findings if finding.severity == "error"]
    bad = variant.rename(wheel.with_name(f"{wheel.stem}-UPPER.whl"))
    assert "LB502" in {finding.code for finding in audit_here([bad]).findings}
