"""The fix of a finding names what the project does: neither a provider nor code with a stub calls lb_bind()."""

import pytest

from corpus.cases.case import contents, linked, runtime, wheel
from corpus.cases.linkage import LIB, PROVIDER, plugin
from latebind.checks.policy import BindingPolicy
from loadcheck.api import audit_paths

STUB = BindingPolicy(drop_ins=frozenset({"onnxruntime"}))


def fix_of(bench, code, make, policy=None):
    """The fix of the first finding of a check."""
    report = audit_paths(list(make(bench)), policy or BindingPolicy())
    return next(finding.fix for finding in report.findings if finding.code == code)


@pytest.mark.parametrize(
    ("code", "make", "policy", "says", "never"),
    [
        ("LB101", wheel({LIB: linked()}), None, "lb_bind()", "drop_in"),
        ("LB101", wheel({LIB: linked()}), STUB, "latebind::onnxruntime", "lb_bind"),
        ("LB101", wheel({PROVIDER: plugin(links=True)}), None, "ORT_API_MANUAL_INIT", "lb_bind"),
        ("LB101", wheel({PROVIDER: plugin(links=True)}), STUB, "CreateEpFactories()", "latebind::onnxruntime"),
    ],
    ids=["bound", "drop-in", "provider", "provider of a drop-in project"],
)
def test_the_fix_names_how_the_library_gets_the_runtime(bench, code, make, policy, says, never):
    fix = fix_of(bench, code, make, policy)
    assert says in fix
    assert never not in fix


def test_a_repair_tool_gets_the_name_without_the_hash_that_it_added(bench):
    copy = wheel({"latenn.libs/libonnxruntime-1a2b3c4d.so.1.20.1": contents(runtime())})
    assert "--exclude 'libonnxruntime.so*' to that tool." in fix_of(bench, "LB103", copy)


def test_a_runtime_in_a_folder_is_to_be_removed_as_well(bench):
    (path,) = bench.bare("stage/libonnxruntime.so.1", bench.runtime().read_bytes())
    assert "Remove" in fix_of(bench, "LB103", lambda _: [path.parent])
