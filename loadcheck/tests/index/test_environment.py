"""`loadcheck env`: the distributions of an environment next to each other."""

import csv
import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loadcheck.audit import audit_environment
from loadcheck.cli import main
from loadcheck.engine.catalog import own_checks
from loadcheck.engine.cause import fingerprint
from loadcheck.engine.policy import default_policy
from loadcheck.errors import InputError
from loadcheck.readers.environment import read_environment


@pytest.fixture
def environment(tmp_path):
    """A virtual environment without Python, and a function that installs a distribution into it."""
    root = tmp_path / "venv"
    packages = root / "lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "bin/python").touch()

    def install(name, files=None, metadata="", version="1.0"):
        info = packages / f"{name}-{version}.dist-info"
        texts = {
            f"{info.name}/METADATA": f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{metadata}".encode()
        }
        rows = io.StringIO()
        csv.writer(rows).writerows([path, "", ""] for path in {**(files or {}), **texts})
        for path, data in {**texts, **(files or {}), f"{info.name}/RECORD": rows.getvalue().encode()}.items():
            (packages / path).parent.mkdir(parents=True, exist_ok=True)
            (packages / path).write_bytes(data)

    return root, install


@pytest.fixture
def library(bench):
    def make(soname, *needed, source="int f(void) { return 1; }\n"):
        return bench.compiler.library(source, f"-Wl,-soname,{soname}", *needed, name="lib.so").read_bytes()

    return make


def audit(root, code):
    findings = [each for each in audit_environment(root).findings if each.code == code]
    return [(each.severity, each.message) for each in findings], [text for each in findings for text in each.evidence]


def test_two_copies_of_openmp_are_named_with_who_installs_them(environment, library):
    root, install = environment
    install("infomap", {"infomap.libs/libgomp-e985bcbb.so.1.0.0": library("libgomp-e985bcbb.so.1.0.0")})
    install("torch", {"torch/lib/libgomp.so.1": library("libgomp.so.1")})

    rows, evidence = audit(root, "LB119")

    message = "infomap 1.0 and torch 1.0 install OpenMP: a program that imports them loads 2 copies"
    assert rows == [("warning", message)]
    assert evidence == [
        "infomap 1.0: infomap.libs/libgomp-e985bcbb.so.1.0.0 (SONAME libgomp-e985bcbb.so.1.0.0)",
        "torch 1.0: torch/lib/libgomp.so.1 (SONAME libgomp.so.1)",
    ]


def test_copies_of_one_name_are_one_library_in_a_process(environment, library):
    root, install = environment
    for name in ("infomap", "sklearn"):
        install(name, {f"{name}.libs/libgomp-e985bcbb.so.1.0.0": library("libgomp-e985bcbb.so.1.0.0")})

    [(severity, message)], _ = audit(root, "LB119")

    assert severity == "note"
    assert message.endswith("all have one name, so that the copy that is loaded first serves all")


def test_a_copy_without_a_soname_is_known_by_its_file_name(environment, bench, library):
    root, install = environment
    nameless = bench.compiler.library("int f(void) { return 1; }\n", name="lib.so").read_bytes()
    install("infomap", {"infomap.libs/libgomp.so.1": nameless})
    install("torch", {"torch/lib/libgomp-e985bcbb.so.1.0.0": library("libgomp-e985bcbb.so.1.0.0")})

    [(_, message)], evidence = audit(root, "LB119")

    assert message.startswith("infomap 1.0 and torch 1.0 install OpenMP")
    assert "infomap 1.0: infomap.libs/libgomp.so.1 (libgomp.so.1)" in evidence


def test_distributions_that_replace_files_of_each_other_are_named(environment, library):
    root, install = environment
    ours = {"onnxruntime/capi/libonnxruntime.so.1.28.0": library("libonnxruntime.so.1")}
    install("onnxruntime_gpu", {**ours, "onnxruntime/capi/libonnxruntime_providers_cuda.so": library("libcuda.so")})
    assert audit(root, "LB119") == ([], [])
    install("onnxruntime", ours)

    rows, evidence = audit(root, "LB119")

    both = "onnxruntime 1.0 and onnxruntime-gpu 1.0 install the same files"
    assert rows == [("warning", f"{both}: the last one replaced those of the others")]
    assert evidence == ["onnxruntime/capi/libonnxruntime.so.1.28.0"]


def test_distributions_that_replace_files_of_each_other_are_one_finding_in_all_versions(environment, library):
    root, install = environment
    found = []
    for version in ("1.0", "1.1"):
        for info in root.glob("lib/*/*/*.dist-info"):
            shutil.rmtree(info)
        for name in ("onnxruntime", "onnxruntime_gpu"):
            install(name, {"onnxruntime/libonnxruntime.so": library("libonnxruntime.so.1")}, version=version)
        found += [each for each in audit_environment(root).findings if each.code == "LB119"]

    assert [each.cause for each in found] == ["files of onnxruntime onnxruntime-gpu"] * 2
    assert fingerprint(found[0]) == fingerprint(found[1])


def test_one_distribution_may_have_what_it_likes(environment, library):
    root, install = environment
    install("torch", {"torch/lib/libgomp.so.1": library("libgomp.so.1"), "torch/libomp.so": library("libomp.so")})
    install("numpy", {"numpy.libs/libz-12345678.so.1": library("libz-12345678.so.1")})
    install("scipy", {"scipy.libs/libz-87654321.so.1": library("libz-87654321.so.1")})

    assert audit(root, "LB119") == ([], [])


def test_two_major_versions_of_cuda_are_named(environment, library):
    root, install = environment
    install("nvidia-cuda-runtime-cu12", {"nvidia/cuda_runtime/lib/libcudart.so.12": library("libcudart.so.12")})
    install("nvidia-cuda-runtime", {"nvidia/cu13/lib/libcudart.so.13": library("libcudart.so.13")})

    rows, evidence = audit(root, "LB119")

    assert rows == [("warning", "libcudart is installed in the major versions 12 and 13")]
    assert "nvidia-cuda-runtime-cu12 1.0: nvidia/cuda_runtime/lib/libcudart.so.12" in evidence


def test_a_library_that_no_distribution_installs_is_named(environment, bench, library):
    root, install = environment
    odd = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
    user = library("libuser.so", odd, source="extern int odd(void);\nint f(void) { return odd(); }\n")
    install("user", {"user/libuser.so": user})

    assert audit(root, "LB120")[0] == [("warning", "user 1.0 needs libodd.so.3, which no distribution installs")]
    install("odd", {"odd/libodd.so.3": odd.read_bytes()})
    assert audit(root, "LB120")[0] == []


@pytest.mark.parametrize("name", ["libcuda.so.1", "libEGL.so.1"])
def test_a_library_of_a_driver_or_of_most_systems_is_not_missing(environment, bench, library, name):
    root, install = environment
    odd = bench.compiler.library("int odd(void) { return 1; }\n", f"-Wl,-soname,{name}", name="libodd.so")
    user = library("libuser.so", odd, source="extern int odd(void);\nint f(void) { return odd(); }\n")
    install("user", {"user/libuser.so": user})

    assert audit(root, "LB120")[0] == []


CORE = "user/_core.cpython-311-x86_64-linux-gnu.so"
FAILS = "user 1.0 needs libodd.so.3, which no distribution installs; import user fails without it"
MAY_FAIL = "user 1.0 needs libodd.so.3, which no distribution installs"


@pytest.fixture
def on_linux(monkeypatch):
    """As if this machine had Linux on x64."""
    monkeypatch.setattr("loadcheck.readers.environment._find_machine", lambda: ("elf", "x86_64"))


@pytest.fixture
def module(bench, on_linux):
    """A module that needs libodd.so.3, and searches where flags say."""

    def make(*flags):
        odd = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
        source = "extern int odd(void);\nvoid *PyInit__core(void) { odd(); return 0; }\n"
        return bench.compiler.library(source, odd, *flags).read_bytes()

    return make


def test_an_environment_in_which_an_import_surely_fails_fails_the_command(environment, module, capsys):
    root, install = environment
    install("user", {CORE: module(), "user/__init__.py": b"from ._core import odd\n"})

    assert audit(root, "LB120")[0] == [("error", FAILS)]
    assert main(["env", str(root)]) == 1
    assert f"error   LB120 {FAILS}" in capsys.readouterr().out


def test_a_library_between_the_module_and_what_is_missing_does_not_change_that(environment, bench, library, on_linux):
    root, install = environment
    odd = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
    source = "extern int odd(void);\nint mid(void) { return odd(); }\n"
    mid = bench.compiler.library(source, odd, "-Wl,-soname,libmid.so", name="libmid.so")
    source = "extern int mid(void);\nvoid *PyInit__core(void) { mid(); return 0; }\n"
    core = bench.compiler.library(source, mid, "-Wl,--allow-shlib-undefined").read_bytes()
    install("user", {CORE: core, "user.libs/libmid.so": mid.read_bytes(), "user/__init__.py": b"from . import _core\n"})

    assert audit(root, "LB120")[0] == [("error", FAILS)]


@pytest.mark.parametrize(
    ("code", "more"),
    [
        (b"", {}),
        (b"try:\n    from . import _core\nexcept ImportError:\n    pass\n", {}),
        (b"def f():\n    from . import _core\n", {}),
        (b"import ctypes\nctypes.CDLL('/opt/odd/libodd.so.3')\nfrom . import _core\n", {}),
        (b"from . import _core\n", {"user/start.py": b"preload('libodd')"}),
        (b"from . import _core\n", {"user/_core.cpython-312-x86_64-linux-gnu.so": b"\x7fELF"}),
        (b"from . import _core\n" + b"#" * 300_000, {}),
        (b"from . import (", {}),
    ],
    ids=["nothing", "try", "function", "opened", "opened elsewhere", "another Python's", "too long", "damaged"],
)
def test_where_the_import_may_work_without_the_library_it_is_a_warning(environment, module, code, more):
    root, install = environment
    install("user", {CORE: module(), "user/__init__.py": code, **more})

    assert audit(root, "LB120")[0] == [("warning", MAY_FAIL)]
    assert main(["env", str(root)]) == 0


@pytest.mark.parametrize("machine", [("elf", "aarch64"), ("macho", "x86_64"), ("pe", "x86_64")])
def test_what_another_machine_has_is_not_known(environment, module, monkeypatch, machine):
    root, install = environment
    install("user", {CORE: module(), "user/__init__.py": b"from . import _core\n"})
    monkeypatch.setattr("loadcheck.readers.environment._find_machine", lambda: machine)

    assert audit(root, "LB120")[0] == [("warning", MAY_FAIL)]


@pytest.mark.parametrize("way", ["variable", "cache", "path", "path from the file"])
def test_a_library_that_the_loader_finds_elsewhere_is_not_missing(environment, module, monkeypatch, tmp_path, way):
    root, install = environment
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd/libodd.so.3").touch()
    climb = "$ORIGIN/../../../../../odd"  # out of user/, site-packages/, python3.11/, lib/ and venv/
    flags = {"path": [f"-Wl,-rpath,{tmp_path}/odd"], "path from the file": [f"-Wl,-rpath,{climb}"]}.get(way, [])
    install("user", {CORE: module(*flags), "user/__init__.py": b"from . import _core\n"})
    if way == "variable":
        monkeypatch.setenv("LD_LIBRARY_PATH", f"relative:{tmp_path / 'odd'}")
    if way == "cache":
        (tmp_path / "cache").write_bytes(b"glibc-ld.so.cache1.1\3\0\0\0\0\0/opt/odd/libodd.so.3\0/opt/libz.so.1\0")
        monkeypatch.setattr("loadcheck.readers.environment._CACHE", tmp_path / "cache")

    assert audit(root, "LB120")[0] == []


@pytest.mark.parametrize(
    ("path", "code", "severity"),
    [
        ("$ORIGIN/../odd/lib", b"from . import _core\n", None),
        ("$ORIGIN/odd/lib", b"from . import _core\n", "error"),
        ("$ORIGIN", b"from . import _core\n", "error"),
        ("", b"from . import _core\n", "error"),
        ("", b"", "warning"),
        ("", b"import odd\nfrom . import _core\n", None),
        ("", b"import numpy, os\nfrom . import _core\n", "error"),
    ],
)
def test_a_library_of_another_distribution_is_found_where_the_loader_searches(
    environment, module, library, path, code, severity
):
    root, install = environment
    install("user", {CORE: module(*([f"-Wl,-rpath,{path}"] if path else ())), "user/__init__.py": code})
    install("odd", {"odd/lib/libodd.so.3": library("libodd.so.3", "-Wl,-rpath,$ORIGIN")})

    lacks = "user 1.0 needs libodd.so.3, which is installed as odd/lib/libodd.so.3, where the loader does not search"
    says = f"{lacks}; import user fails without it" if severity == "error" else lacks
    assert audit(root, "LB120")[0] == ([(severity, says)] if severity else [])


def test_a_record_that_names_code_elsewhere_is_not_followed(environment, module, tmp_path):
    root, install = environment
    install("user", {CORE: module()})
    (tmp_path / "other.py").write_text("import user._core\n")
    record = next(root.glob("lib/*/*/*.dist-info/RECORD"))
    record.write_text(f"{record.read_text()}{tmp_path}/other.py,,\n../../../../other.py,,\n")

    assert audit(root, "LB120")[0] == [("warning", MAY_FAIL)]


NOTE = """
__asm__(".pushsection .note.dlopen,\\"a\\"\\n.balign 4\\n.long 4, %d, 0x407c0c0a\\n.asciz \\"FDO\\"\\n"
        ".asciz \\"%s\\"\\n.balign 4\\n.popsection\\n");
"""


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('[{"soname":["libodd.so.3","libodd.so"],"priority":"required"}]', [("warning", "libodd.so.3 or libodd.so")]),
        ('[{"soname":["libodd.so.3"],"priority":"suggested"}]', [("note", "libodd.so.3")]),
        ('[{"soname":["libodd.so.3"]},{"soname":[3]},{"soname":"x"},7]', [("note", "libodd.so.3")]),
        ("[" * 3000, []),
        ('{"soname":["libodd.so.3"]}', []),
    ],
)
def test_a_library_that_a_note_says_is_opened_is_named(environment, library, text, rows):
    root, install = environment
    quoted = text.replace('"', '\\\\\\"')
    install("user", {"user/libuser.so": library("libuser.so", source=NOTE % (len(text) + 1, quoted))})

    says = "user 1.0 opens {}, which no distribution installs"
    assert audit(root, "LB120")[0] == [(severity, says.format(names)) for severity, names in rows]
    install("odd", {"odd/libodd.so.3": library("libodd.so.3")})
    assert audit(root, "LB120")[0] == []


@pytest.mark.parametrize(
    ("requirement", "says"),
    [
        ("acme", ["user 1.0 requires acme, which is not installed"]),
        ("other>=2", ["user 1.0 requires other>=2, but 1.0 is installed"]),
        ("other", []),
        ("acme; extra == 'all'", []),
        ("acme; python_version < '3.11'", []),
        ("@@", []),
    ],
)
def test_a_requirement_that_is_not_installed_is_an_error(environment, requirement, says):
    root, install = environment
    install("user", {}, f"Requires-Dist: {requirement}\n")
    install("other")

    rows, _ = audit(root, "LB121")

    assert rows == [("error", text) for text in says]


def test_an_environment_is_found_by_its_folder_its_python_and_its_site_packages(environment):
    root, install = environment
    install("user", {}, "Requires-Dist: acme\n")

    paths = [root, root / "bin/python", root / "lib/python3.11/site-packages"]

    assert [len(audit(path, "LB121")[0]) for path in paths] == [1, 1, 1]


@pytest.mark.parametrize("name", ["none", "empty"])
def test_a_path_that_is_no_environment_is_a_mistake_of_the_user(tmp_path, name, capsys):
    (tmp_path / "empty").mkdir()

    with pytest.raises(InputError):
        audit_environment(tmp_path / name)
    assert main(["env", str(tmp_path / name)]) == 2
    assert "loadcheck env .venv" in capsys.readouterr().err


@pytest.mark.parametrize("record", [b"", b"\xff\xfe", b"../../../../etc/libx.so,,\n/etc/libx.so,,\n", b'"' * 1000])
def test_a_hostile_record_leads_nowhere_else(environment, record):
    root, install = environment
    install("user")
    next(root.glob("lib/*/*/*.dist-info/RECORD")).write_bytes(record)

    assert audit_environment(root).findings == ()


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF" + b"\xff" * 5000])
def test_a_damaged_file_does_not_end_the_audit(environment, data):
    root, install = environment
    install("user", {"user/libx.so": data}, "Requires-Dist: acme\n")

    assert [each.code for each in audit_environment(root).findings] == ["LB121"]


def test_a_file_that_ended_the_reader_is_a_finding_and_the_others_are_audited(environment, library):
    root, install = environment
    install("user", {"user/libx.so": b"\x7fELF", "user/liby.so": library("liby.so")})

    package = read_environment(root, {"user/libx.so": "was killed by SIGABRT"}, lambda _: None)

    assert [(file.name, file.died) for file in package.files] == [
        ("user/libx.so", "was killed by SIGABRT"),
        ("user/liby.so", ""),
    ]
    check = own_checks()["LB605"]
    found = check.judge(lambda name: name, "", default_policy(), package=package, wheel=None)
    assert ([each.subject for each in found], "environment" in check.kinds) == (["user/libx.so"], True)


def test_each_file_is_announced_before_it_is_read(environment, library):
    root, install = environment
    install("user", {"user/libx.so": b"", "user/liby.so": library("liby.so")})
    announced = []

    package = read_environment(root, {}, announced.append)

    assert announced == ["user/libx.so", "user/liby.so"]
    assert [file.name for file in package.files] == ["user/liby.so"]


def test_the_command_audits_the_environment_that_runs_it(monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    command = [sys.executable, "-m", "loadcheck", "env", "--fail-on", "never", "--format", "json"]

    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(sys.prefix))

    assert done.returncode == 0, done.stderr
    assert '"subjects": 1' in done.stdout
