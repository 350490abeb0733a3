"""The graph of what loads what: what is one node, what is left out, and that nothing is invented."""

from dataclasses import replace

import pytest
from reports.sample import lack, many, need, usual_report

from loadcheck.model import AuditReport, Copy
from loadcheck.reports.graph import MOST_NODES, draw_graph


def edges_of(graph):
    return {(graph.nodes[edge.user].label, graph.nodes[edge.source].label, edge.is_missing) for edge in graph.edges}


def node_of(graph, label):
    [node] = [node for node in graph.nodes if node.label == label]
    return node


def test_who_asks_for_what_and_what_is_missing():
    graph = draw_graph(usual_report())

    assert edges_of(graph) == {
        ("_core.so", "libbase.so.1", False),
        ("_core.so", "libodd.so.3", True),
        ("_core.so", "system", False),
        ("libtorch.so", "libgomp.so.1", False),
        ("3 files", "libgomp-1.so", False),
    }
    assert node_of(graph, "libodd.so.3").kind == "missing"
    assert node_of(graph, "libodd.so.3").severity == node_of(graph, "_core.so").severity == "warning"
    assert graph.omitted == ("dull 1.0",)


def test_each_copy_of_a_library_has_its_number():
    graph = draw_graph(usual_report())
    copies = {node.label: node.copy for node in graph.nodes if node.copy}
    assert copies == {"libgomp.so.1": "OpenMP 1 of 2", "libgomp-1.so": "OpenMP 2 of 2"}


def test_copies_that_a_process_takes_for_one_have_one_number():
    report = usual_report()
    third = Copy(family="OpenMP", owner="faiss 1.0", file="faiss/libgomp-1.so", name="SONAME libgomp-1.so")
    uses = need("faiss 1.0:faiss/_swig.so", "libgomp-1.so", path="faiss/libgomp-1.so")
    graph = draw_graph(replace(report, copies=(*report.copies, third), needs=(*report.needs, uses)))
    assert sorted(node.copy for node in graph.nodes if node.copy) == [f"OpenMP {n} of 2" for n in (1, 2, 2)]


def test_files_that_need_the_same_are_one_node_unless_one_has_a_finding():
    rows = [need(f"a.whl:a/_{name}.cpython-311-x86_64-linux-gnu.so", "libx.so", path="a/libx.so") for name in "abc"]
    missing, finding = lack("a.whl:a/_d.so", "liby.so", "error")
    graph = draw_graph(
        AuditReport(subjects=1, needs=(*rows, replace(rows[0], file="a/_d.so"), missing), findings=(finding,))
    )

    folded = node_of(graph, "3 files")
    assert (len(folded.names), folded.detail, folded.severity) == (3, "_a, _b + 1", None)
    assert node_of(graph, "_d.so").severity == "error"


def test_what_only_one_package_lacks_is_in_its_frame():
    alone, first = lack("a 1.0:a/x.so", "libalone.so")
    shared = [lack(f"{name} 1.0:{name}/x.so", "libshared.so") for name in "ab"]
    report = AuditReport(
        subjects=1, needs=(alone, *(row for row, _ in shared)), findings=(first, *(each for _, each in shared))
    )
    graph = draw_graph(report)
    assert (node_of(graph, "libalone.so").owner, node_of(graph, "libshared.so").owner) == ("a 1.0", "")


def test_a_library_that_the_loader_does_not_find_is_drawn_where_it_is():
    missing, finding = lack("a 1.0:a/x.so", "libx.so")
    missing = replace(missing, source="b 1.0", path="b/lib/libx.so")
    graph = draw_graph(AuditReport(subjects=1, needs=(missing,), findings=(finding,)))
    assert edges_of(graph) == {("x.so", "libx.so", True)}
    assert {node.kind for node in graph.nodes} == {"file"}
    assert {node.detail for node in graph.nodes} == {"a 1.0", "b 1.0"}, "alone in their frames, they name the package"


@pytest.mark.parametrize(
    ("row", "kind", "label"),
    [
        (need("a.whl:x.so", "libt.so", "unread", source="torch and numpy"), "unread", "torch and numpy: not read"),
        (
            need("a.whl:x.so", "libt.so", "requirement", source="torch 2", path="torch/libt.so"),
            "requirement",
            "libt.so",
        ),
        (need("a.whl:x.so", "libt.so", "unjudged"), "unjudged", "libt.so"),
        (need("a.whl:x.so", "libt.so", "system"), "system", "system"),
    ],
)
def test_what_else_supplies_a_library_is_a_node(row, kind, label):
    graph = draw_graph(AuditReport(subjects=1, needs=(row,)))
    assert edges_of(graph) == {("x.so", label, False)}
    assert node_of(graph, label).kind == kind


def test_a_bare_file_has_its_own_name():
    graph = draw_graph(AuditReport(subjects=1, needs=(need("dist/libx.so:", "libc.so.6", "system"),)))
    assert [node.label for node in graph.nodes] == ["libx.so", "system"]


@pytest.mark.parametrize(("packages", "files"), [(5, 4), (20, 15), (100, 20), (3, 700), (1, 900), (400, 2)])
@pytest.mark.parametrize("lacks", [True, False])
def test_a_large_environment_fits(packages, files, lacks):
    report = many(packages, files)
    if not lacks:
        report = replace(report, findings=(), needs=tuple(row for row in report.needs if row.supply != "missing"))
    graph = draw_graph(report)

    assert 0 < len(graph.nodes) <= MOST_NODES
    drawn = {node.owner or node.detail for node in graph.nodes}
    assert not drawn & {*graph.omitted}
    assert graph.omitted or graph.files_omitted or packages * files < MOST_NODES
    told = {(row.library, row.supply == "missing") for row in report.needs}
    assert all((library, edge.is_missing) in told for edge in graph.edges for library in edge.libraries)


def test_errors_come_before_warnings_where_not_all_fits():
    report = many(300, 2)
    bad, finding = lack("package-250 1.0:p250/lib1.so", "libodd250.so", "error")
    needs = tuple(bad if row.library == bad.library else row for row in report.needs)
    graph = draw_graph(replace(report, needs=needs, findings=(*report.findings, finding)))
    assert "package-250 1.0" not in graph.omitted
    assert "package-251 1.0" in graph.omitted


def test_a_file_that_needs_thousands_of_libraries_does_not_fill_the_page():
    lacks = [lack("a.whl:x.so", f"lib{number}.so") for number in range(5000)]
    graph = draw_graph(AuditReport(subjects=1, needs=tuple(row for row, _ in lacks), findings=(lacks[0][1],)))
    assert len(graph.nodes) == MOST_NODES
    assert len(graph.edges) == MOST_NODES - 1


def test_a_report_without_needs_has_no_graph():
    assert draw_graph(AuditReport(subjects=1)).nodes == ()
