"""LB513 compared with torch-abi-audit: the same names are unstable, and functions of the shim are as new."""

import json
import sys
import zipfile

import pytest

from corpus.cases import modules
from corpus.processes import make_environment, run_checked
from loadcheck.audit import audit_here
from loadcheck.tables.torchabi import list_unstable, read_first_versions

pytestmark = pytest.mark.slow

CASES = [case for case in modules.CASES if case.code == "LB513"]
NAMES = {
    "_ZN3c106SymInt19promote_to_negativeEv": "unstable",
    "_ZNK2at6Tensor5numelEv": "unstable",
    "_ZN2at4_ops3add4callERKNS_6TensorES4_RKN3c106ScalarE": "unstable",
    "_ZN5torch3jit16compile_functionEv": "unstable",
    "_ZTIN3c105ErrorE": "unstable",
    "_ZTVN5torch8autograd4NodeE": "unstable",
    "aoti_torch_get_dim": "stable_shim",
    "torch_call_dispatcher": "stable_shim",
    "memcpy": "other",
    "_ZNSt6vectorIfSaIfEE9push_backERKf": "other",
    "PyList_New": "other",
    "_ZN4what3c10Ev": "other",
}
"""Names that a library asks for, and what they are: torch-abi-audit's own test data, mangled, and others."""
READ = """
import json, sys
from torch_abi_audit import torch_versions
from torch_abi_audit.demangle import demangle_symbol
from torch_abi_audit.torch_abi import classify_symbol
names = json.loads(sys.stdin.read())
kinds = {name: classify_symbol(demangle_symbol(name)) for name in names}
versions = {name: f"{v[0]}.{v[1]}" for name, v in torch_versions.stable_shim_versions().items()}
print(json.dumps([kinds, versions]))
"""


@pytest.fixture(scope="session")
def python(tmp_path_factory):
    """An environment with torch-abi-audit."""
    if sys.version_info < (3, 11):
        pytest.skip("not run: torch-abi-audit needs Python 3.11")
    return make_environment(tmp_path_factory.mktemp("torch-abi-audit"), "torch-abi-audit==0.3.0")


@pytest.fixture(scope="session")
def answers(python):
    """What kind each name is, and the first torch of each function."""
    return json.loads(run_checked(python, "-c", READ, input=json.dumps(list(NAMES))))


def test_the_same_names_are_unstable(answers):
    assert answers[0] == NAMES
    assert set(list_unstable(NAMES)) == {n for n, kind in NAMES.items() if kind == "unstable"}


def test_functions_of_the_shim_are_as_new(answers):
    ours = {name: f"{since[0]}.{since[1]}" for name, since in read_first_versions().items()}
    theirs = {name: since for name, since in answers[1].items() if name in ours or name.startswith(("torch_", "aoti_"))}
    of_types = {name for name in theirs if name.endswith("_t")}
    assert ours == {name: since for name, since in theirs.items() if since != "2.9" and name not in of_types}


@pytest.mark.parametrize("case", CASES, ids=[case.what.replace(" ", "_") for case in CASES])
def test_both_read_the_same_in_a_module(case, bench, python, tmp_path):
    (wheel,) = case.bad(bench)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    report = json.loads(run_checked(python, "-m", "torch_abi_audit.cli", "--json", tmp_path / "latenn"))
    [module] = report["extensions"]
    [ours] = [finding for finding in audit_here([wheel]).findings if finding.code == "LB513"]
    if module["torch"]["unstable_symbols"]:
        assert "fits one minor release" in ours.message
    else:
        assert f"new in torch {module['torch']['min_torch_version'].removesuffix('.0')}" in ours.message
