"""The SBOM of each package: valid by its format's own validator, with hashes and the late-bound runtime's range."""

import hashlib
import json

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from latebind.build import sbom
from latebind.config.document import RuntimeUse
from spdx_tools.spdx.parser.error import SPDXParsingError
from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from tests.client import BOUND, by_kind, member, members, packed, write_client


def cyclonedx_problem(version, document):
    return JsonStrictValidator(version).validate_str(json.dumps(document))


def spdx_problem(document):
    try:
        return validate_full_spdx_document(JsonLikeDictParser().parse(document), "SPDX-2.3")
    except SPDXParsingError as error:
        return error.get_messages()


FORMATS = {
    "": ("cdx.json", lambda document: cyclonedx_problem(SchemaVersion.V1_6, document)),
    "cyclonedx-1.7": ("cdx.json", lambda document: cyclonedx_problem(SchemaVersion.V1_7, document)),
    "spdx-2.3": ("spdx.json", spdx_problem),
}


@pytest.fixture(scope="module", params=FORMATS, ids=lambda name: name or "default")
def bills(request, tmp_path_factory):
    chosen = BOUND.replace("[project]", f'[project]\nsbom = "{request.param}"') if request.param else BOUND
    suffix, problem = FORMATS[request.param]
    found = {}
    for kind, package in by_kind(packed(write_client(tmp_path_factory.mktemp("bills"), latebind=chosen))).items():
        if kind != "sdist":
            (name,) = [name for name in members(package) if name.endswith(suffix)]
            found[kind] = name, members(package)[name], member(package, ".so")
    return found, suffix, problem


def test_each_package_carries_a_valid_sbom_where_its_kind_has_them(bills):
    found, suffix, problem = bills
    assert {kind: name for kind, (name, _, _) in found.items()} == {
        "wheel": f"tiny-1.2.3.dist-info/sboms/latebind.{suffix}",
        "nupkg": f"sbom/latebind.{suffix}",
    }
    for _, bill, _ in found.values():
        assert not problem(json.loads(bill))
        broken = json.loads(bill)
        row = broken.get("components", broken.get("packages"))[0]
        row["type" if "components" in broken else "primaryPackagePurpose"] = "thing"
        assert problem(broken)


def test_it_names_the_package_its_library_and_the_runtime_that_is_not_inside(bills):
    for kind, (_, bill, library) in bills[0].items():
        stated = sbom.read_sbom(bill)
        assert stated.ranges == (("onnxruntime", "vers:generic/>=1.20|<2"),)
        assert "zig 0.17.0" in stated.tools
        purl = {"wheel": "pkg:pypi/tiny@1.2.3", "nupkg": "pkg:nuget/Tiny@1.2.3"}[kind]
        for text in (hashlib.sha256(library).hexdigest(), "libtiny.so", purl):
            assert text in bill.decode(), kind


def test_a_runtime_whose_versions_are_years_has_no_upper_end():
    assert sbom.version_range(RuntimeUse(preset="openvino", minimum="2025.1")) == "vers:generic/>=2025.1"
