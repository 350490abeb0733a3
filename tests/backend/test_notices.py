"""What libraries hold: the loader's notice is in each package, and SBOMs list static parts with their versions."""

import hashlib
import json
import re
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import ziglang
from packaging.licenses import canonicalize_license_expression

import latebind
from latebind.backend.notices import add_notices
from latebind.backend.parts import find_parts, known_parts
from latebind.system.resources import cmake_dir
from loadcheck.api import Choice, Policy, audit_here
from tests.conftest import ROOT
from tests.support.client import BOUND, by_kind, copy_client, hashes, members, pack_project, stage_project


@pytest.fixture(scope="module")
def packed_project(tmp_path_factory):
    config = BOUND.replace("[package.tiny]", "[package.tiny]\nsdk = true")
    config = config.replace("nuget = {", 'npm = { name = "tiny" }\nnuget = {')
    root = copy_client("exceptions", tmp_path_factory.mktemp("held"), latebind=config)
    return root, pack_project(root)


@pytest.mark.slow
def test_every_package_with_the_loader_carries_its_notice(packed_project):
    notice = (cmake_dir() / "LICENSE").read_bytes()
    by_package = {}
    for artifact in packed_project[1].artifacts:
        notices = [name for name, data in members(artifact.path).items() if data == notice]
        by_package[artifact.path.name.partition("-1.2.3")[0] + "." + artifact.kind] = notices
    assert by_package == {
        "tiny.wheel": ["tiny-1.2.3.dist-info/licenses/LICENSE-latebind.txt"],
        "Tiny.1.2.3.nupkg.nupkg": ["LICENSE-latebind.txt"],
        "tiny-linux-x64.npm": ["package/LICENSE-latebind.txt"],
        "tiny.npm": [],  # it holds no library
        "tiny.sdk": ["tiny-1.2.3-linux-x64-sdk/share/licenses/tiny/LICENSE-latebind.txt"],
        "tiny.sdist": by_package["tiny.sdist"],
    }


@pytest.mark.slow
def test_the_wheel_names_the_notice_and_the_audit_finds_nothing(packed_project, tmp_path):
    wheel = by_kind(packed_project[1])["wheel"]
    metadata = Parser().parsestr(members(wheel)["tiny-1.2.3.dist-info/METADATA"].decode())
    assert metadata.get_all("License-File") == ["LICENSE", "LICENSE-latebind.txt"]
    findings = audit_here([wheel], Policy(choice=Choice(select=("LB5",)))).findings
    assert {finding.code for finding in findings} == {"LB509"}  # it has no README


@pytest.mark.slow
def test_packing_again_gives_the_same_bytes(packed_project, tmp_path):
    root, first = packed_project
    assert hashes(pack_project(root, workdir=tmp_path)) == hashes(first)


@pytest.mark.slow
def test_the_sbom_lists_loader_and_the_compilers_libraries(packed_project):
    for kind in ("wheel", "nupkg", "sdk"):
        inside = members(by_kind(packed_project[1])[kind])
        (name,) = [name for name in inside if name.endswith(".cdx.json")]
        document = json.loads(inside[name])
        components = {
            component["name"]: component
            for component in document["components"]
            if component["bom-ref"].startswith("part/")
        }
        stated = {name: (component["version"], component["supplier"]["name"]) for name, component in components.items()}
        assert stated == {
            "latebind-loader": (latebind.__version__, "The latebind authors"),
            "compiler-rt": ("0.17.0", "Zig Software Foundation"),
            "libc++": ("22.1.8", "LLVM Project"),
            "libc++abi": ("22.1.8", "LLVM Project"),
            "libunwind": ("22.1.8", "LLVM Project"),
        }
        (library,) = [edge for edge in document["dependencies"] if edge["ref"] == "linux-x64/libtiny.so"]
        assert library["dependsOn"] == sorted(component["bom-ref"] for component in components.values())


@pytest.mark.slow
@pytest.mark.parametrize("rid", ["linux-x64", "win-x64", "osx-arm64"])
def test_no_linker_leaves_the_marks_out(rid, tmp_path):
    config = BOUND.replace("linux-x64", rid)
    root = copy_client("drop-in", tmp_path, latebind=config)
    stage = stage_project(root, rid)
    (library,) = stage.libraries("tiny")
    versions = {part.name: part.version for part in find_parts(library.read_bytes(), stage.manifest.toolchain)}
    assert versions["latebind-loader"] == versions["latebind-stub"] == latebind.__version__


def test_the_table_has_the_release_of_llvm_in_zig():
    config = Path(ziglang.__file__).parent / "lib/libcxx/include/__config"
    number = re.search(r"_LIBCPP_VERSION (\d\d)(\d\d)(\d\d)", config.read_text("utf-8"))
    version = ".".join(str(int(part)) for part in number.groups())
    (part,) = [part for part in find_parts(b"libunwind: %s - %s", "zig 0.17.0") if part.name == "libunwind"]
    assert part.version == version


def test_gcc_supplies_its_own_libraries():
    first = "host gcc (Debian 12.2.0-14+deb12u1) 12.2.0"
    assert [(part.name, part.version) for part in find_parts(b"", first)] == [("libgcc", "12.2.0")]
    linked = find_parts(b"terminate called recursively\n", first)
    assert [part.name for part in linked] == ["libgcc", "libstdc++"]
    named = b"\x7fELF\0GCC: (GNU) 8.5.0\0GCC: (GNU) 14.2.1\0"
    assert [(part.name, part.version) for part in find_parts(named)] == [("libgcc", "14.2.1")]
    assert not find_parts(b"libunwind", "host Debian clang version 14.0.6")


def test_text_that_others_hold_too_is_not_enough():
    zlib = b" deflate 1.3.1 Copyright 1995-2024 Jean-loup Gailly and Mark Adler "
    assert [part.name for part in find_parts(zlib)] == ["zlib"]
    assert [part.name for part in find_parts(zlib + b"\0 zlib-ng 2.3.3\0")] == ["zlib-ng"]
    header = b"OpenSSL 3.5.0 8 Apr 2025\0"  # what a user of its headers may print
    assert not find_parts(header)
    re2 = b"\0DFA out of memory: \0pattern length \0program size \0"  # as ONNX Runtime has it, 1.19.2 to 1.32.0
    assert [part.name for part in find_parts(re2)] == ["re2"]
    (openssl,) = find_parts(header + b'OPENSSLDIR: "/usr"\0')
    assert (openssl.version, openssl.purl) == ("3.5.0", "pkg:generic/openssl@3.5.0")


def test_each_row_of_the_table_has_a_source_and_an_existing_file_of_ours():
    for part in known_parts().values():
        assert part.source
        assert part.supplier
        assert part.patterns or part.compiler
        assert not part.license or canonicalize_license_expression(part.license) == part.license
        if part.name.startswith("latebind"):
            assert (ROOT / part.source).is_file()


def test_a_wheel_of_old_metadata_gets_the_file_and_no_field(tmp_path):
    wheel = tmp_path / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        archive.writestr("tiny-1.dist-info/RECORD", "tiny-1.dist-info/METADATA,,\ntiny-1.dist-info/RECORD,,\n")
    add_notices(wheel, {"LICENSE-latebind.txt": b"MIT\n"})
    inside = members(wheel)
    assert b"License-File" not in inside["tiny-1.dist-info/METADATA"]
    assert inside["tiny-1.dist-info/licenses/LICENSE-latebind.txt"] == b"MIT\n"
    assert hashlib.sha256(b"MIT\n").digest()
