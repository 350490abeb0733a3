"""The SBOM of each package: valid by its format's own validator, with hashes and the late-bound runtime's range."""

import hashlib
import json

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from latebind.backend.sbom import Bill, render_bill
from latebind.config.runtime import RuntimeUse
from latebind.native.bill import read_sbom, version_range
from tests.support.client import BOUND, by_kind, member, members, pack_project, write_client


def cyclonedx_problem(version, document):
    return JsonStrictValidator(version).validate_str(json.dumps(document))


def lacks_minimum(document):
    """What NTIA's minimum elements miss."""
    components = [document["metadata"]["component"], *document["components"]]
    bare = [
        component["name"]
        for component in components
        if not ("version" in component or "versionRange" in component) or "supplier" not in component
    ]
    edges = {edge["ref"]: edge.get("dependsOn", []) for edge in document["dependencies"]}
    reached, waiting = set(), [components[0]["bom-ref"]]
    while waiting:
        reached.add(ref := waiting.pop())
        waiting += [dependency for dependency in edges[ref] if dependency not in reached]
    floating = {component["bom-ref"] for component in components} ^ reached
    head = document["metadata"]
    return bare or floating or not (head["timestamp"] and head["authors"][0]["name"] and document["serialNumber"])


FORMATS = {
    "": lambda document: cyclonedx_problem(SchemaVersion.V1_6, document),
    "cyclonedx-1.7": lambda document: cyclonedx_problem(SchemaVersion.V1_7, document),
}


@pytest.fixture(scope="module", params=FORMATS, ids=lambda name: name or "default")
def bills(request, tmp_path_factory):
    chosen = BOUND.replace("[project]", f'[project]\nsbom = "{request.param}"') if request.param else BOUND
    contents = {}
    for kind, package in by_kind(pack_project(write_client(tmp_path_factory.mktemp("bills"), latebind=chosen))).items():
        if kind != "sdist":
            (name,) = [name for name in members(package) if name.endswith("cdx.json")]
            contents[kind] = name, members(package)[name], member(package, ".so")
    return contents, FORMATS[request.param]


@pytest.mark.slow
def test_each_package_carries_a_valid_sbom_where_its_kind_has_them(bills):
    contents, problem = bills
    assert {kind: name for kind, (name, _, _) in contents.items()} == {
        "wheel": "tiny-1.2.3.dist-info/sboms/latebind.cdx.json",
        "nupkg": "sbom/latebind.cdx.json",
    }
    for _, bill, _ in contents.values():
        assert not problem(json.loads(bill))
        broken = json.loads(bill)
        broken["components"][0]["type"] = "thing"
        assert problem(broken)


@pytest.mark.builds
def test_each_has_the_minimum_elements_of_ntia_and_nothing_floats(bills):
    for _, bill, _ in bills[0].values():
        document = json.loads(bill)
        assert not lacks_minimum(document)
        components = document["components"]
        components.append({**components[-1], "bom-ref": "apart"})
        document["dependencies"].append({"ref": "apart"})
        assert lacks_minimum(document)
        del components[-1], document["dependencies"][-1]
        components[0].pop("supplier")
        assert lacks_minimum(document)


def test_time_and_serial_number_follow_from_the_inputs(monkeypatch):
    def render_at(epoch, **changed):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        bill = Bill(purl="pkg:pypi/tiny@1", version="1", supplier="Somebody", tools=(("latebind", "1"),), **changed)
        return json.loads(render_bill(bill, "cyclonedx-1.6"))

    first = render_at("1700000000")
    assert first["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    assert first == render_at("1700000000")
    numbers = {
        document["serialNumber"]
        for document in (first, render_at("1700000001"), render_at("1700000000", license="MIT"))
    }
    assert len(numbers) == 3


@pytest.mark.builds
def test_it_names_the_package_its_library_and_the_runtime_that_is_not_inside(bills):
    for kind, (_, bill, library) in bills[0].items():
        stated = read_sbom(bill)
        assert stated.ranges == (("onnxruntime", "vers:generic/>=1.20|<2"),)
        assert "zig 0.17.0" in stated.tools
        purl = {"wheel": "pkg:pypi/tiny@1.2.3", "nupkg": "pkg:nuget/Tiny@1.2.3"}[kind]
        for text in (hashlib.sha256(library).hexdigest(), "libtiny.so", purl):
            assert text in bill.decode(), kind


def test_a_runtime_whose_versions_are_years_has_no_upper_end():
    assert version_range(RuntimeUse(preset="openvino", minimum="2025.1")) == "vers:generic/>=2025.1"
