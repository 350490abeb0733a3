"""The bill of materials: valid CycloneDX, equal hashes, the late-bound runtime with its range, in every package."""

import hashlib
import json

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from latebind.build import sbom
from latebind.config.document import RuntimeUse

from tests.client import BOUND, by_kind, member, members, packed, write_client


@pytest.fixture(scope="module")
def bills(tmp_path_factory):
    found = {}
    for kind, package in by_kind(packed(write_client(tmp_path_factory.mktemp("bills"), latebind=BOUND))).items():
        if kind != "sdist":
            (name,) = [name for name in members(package) if name.endswith(".cdx.json")]
            found[kind] = name, members(package)[name], member(package, ".so")
    return found


def test_each_package_carries_a_valid_bill_where_its_kind_has_them(bills):
    assert {kind: name for kind, (name, _, _) in bills.items()} == {
        "wheel": "tiny-1.2.3.dist-info/sboms/latebind.cdx.json",
        "nupkg": "sbom/latebind.cdx.json",
    }
    for _, bill, _ in bills.values():
        assert JsonStrictValidator(SchemaVersion.V1_7).validate_str(bill.decode()) is None


def test_it_names_the_package_its_library_and_the_runtime_that_is_not_inside(bills):
    for kind, (_, bill, library) in bills.items():
        document = json.loads(bill)
        assert document["metadata"]["component"]["purl"] in ("pkg:pypi/tiny@1.2.3", "pkg:nuget/Tiny@1.2.3")
        parts = {part["name"]: part for part in document["components"]}
        assert parts["libtiny.so"]["hashes"][0]["content"] == hashlib.sha256(library).hexdigest(), kind
        assert parts["onnxruntime"]["isExternal"]
        assert parts["onnxruntime"]["versionRange"] == "vers:generic/>=1.20|<2"
        tools = {tool["name"]: tool["version"] for tool in document["metadata"]["tools"]["components"]}
        assert tools["zig"] == "0.17.0"


def test_a_broken_bill_would_be_noticed(bills):
    document = json.loads(bills["wheel"][1])
    document["components"][0]["type"] = "thing"
    assert JsonStrictValidator(SchemaVersion.V1_7).validate_str(json.dumps(document)) is not None


def test_a_runtime_whose_versions_are_years_has_no_upper_end():
    (row,) = [sbom._bound(RuntimeUse(preset="openvino", minimum="2025.1"))]
    assert row["versionRange"] == "vers:generic/>=2025.1"
