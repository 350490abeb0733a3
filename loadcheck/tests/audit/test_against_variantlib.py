"""LB514 compared with variantlib: both refuse the same metadata of a wheel variant."""

import copy
import json
import random

import pytest

from corpus.processes import make_environment, run_checked
from loadcheck.audit import audit_here

pytestmark = pytest.mark.slow

LABEL = "x8664v3"
GOOD = {
    "default-priorities": {"namespace": ["x86_64", "blas", "own"]},
    "providers": {
        "x86_64": {"requires": ["provider-x86"], "plugin-api": "provider_x86:Plugin", "optional": True},
        "blas": {"static-properties": {"name": ["openblas", "mkl"]}},
        "own": {"static-properties": {"a": ["1"], "b": ["2", "3"]}, "feature-order": ["b", "a"]},
    },
    "variants": {LABEL: {"x86_64": {"level": ["v3", "v2"]}, "blas": {"name": ["openblas"]}}},
}
OTHERS = (None, True, 3, "", "two", "Ä", "UPPER", [], ["one"], [3], {}, {"own": {}}, {"own": {"a": ["1"]}})
STRICTER = ("default-priorities", "providers", "variants")
"""Tables without which variantlib takes an empty one; PEP 825 requires them."""
READ = """
import json, sys
from variantlib.variant_dist_info import VariantDistInfo
for line in sys.stdin:
    try:
        VariantDistInfo(line, LABEL)
        print("yes")
    except Exception as error:
        print("no", type(error).__name__, str(error)[:200].replace(chr(10), " "))
""".replace("LABEL", repr(LABEL))


def places(value, way=()):
    """The ways to all that a document holds."""
    yield way
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*way, key))


def change(document, rnd):
    """A copy of a document with one change at a place."""
    changed = copy.deepcopy(document)
    *way, last = rnd.choice(list(places(document))[1:])
    inside = changed
    for key in way:
        inside = inside[key]
    action = rnd.choice(["remove", "replace", "replace", "rename"])
    if action == "remove":
        del inside[last]
    elif action == "rename" and isinstance(inside, dict):
        inside[rnd.choice(["other", "UPPER", "own", ""])] = inside.pop(last)
    else:
        inside[last] = rnd.choice(OTHERS)
    return changed


@pytest.fixture(scope="session")
def variantlib(tmp_path_factory):
    """Says of documents whether variantlib takes them."""
    python = make_environment(tmp_path_factory.mktemp("variantlib"), "variantlib==0.2.2")

    def judge(documents):
        lines = "".join(json.dumps(document) + "\n" for document in documents)
        return run_checked(python, "-c", READ, input=lines).splitlines()

    return judge


def test_both_refuse_the_same_documents(bench, variantlib):
    rnd = random.Random(825)  # noqa: S311
    documents = [GOOD, *(change(GOOD, rnd) for _ in range(500))]
    documents = [document for document in documents if all(table in document for table in STRICTER)]
    different = []
    for document, theirs in zip(documents, variantlib(documents), strict=True):
        text = json.dumps(document).encode()
        wheel = bench.wheel({"latenn/data.txt": b"x", "latenn-1.0.dist-info/variant.json": text})[0]
        labelled = wheel.rename(wheel.with_name(f"{wheel.stem}-{LABEL}.whl"))
        ours = [finding.message for finding in audit_here([labelled]).findings if finding.code == "LB514"]
        labelled.unlink()
        if bool(ours) != theirs.startswith("no"):
            different.append((theirs, ours, document))
    assert different == []
