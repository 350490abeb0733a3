"""The list of slow tests: written from a report, and without tests that are gone."""

from ci.slow_tests import TABLE, find_gone, measure_tests, slow
from tests.client import write_files
from tests.conftest import ROOT

REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_a" name="test_long[1]" time="3"/>
<testcase classname="tests.test_a" name="test_long[2]" time="4"/>
<testcase classname="tests.test_a" name="test_short" time="0.5"/>
<testcase classname="tests.test_b" name="test_only" time="2"/>
</testsuite></testsuites>"""


def test_the_slowest_are_listed_until_the_rest_is_quick(tmp_path):
    times = measure_tests(write_files(tmp_path, {"tests.xml": REPORT}) / "tests.xml")
    assert slow(times, 100) == []
    assert slow(times, 2.5) == ["tests/test_a.py::test_long"]
    assert slow(times, 1) == ["tests/test_a.py::test_long", "tests/test_b.py"]


def test_a_test_that_was_renamed_and_a_module_that_was_moved_are_found(tmp_path):
    write_files(tmp_path, {"tests/test_a.py": "def test_there():\n    test_inner = 1\n"})
    lines = ["# a comment", "tests/test_a.py", "tests/test_a.py::test_there", "tests/test_a.py::test_inner"]
    gone = ["tests/test_a.py::test_gone", "tests/test_b.py", "tests/test_b.py::test_there"]
    assert find_gone([*lines, *gone], tmp_path) == [lines[3], *gone]


def test_no_listed_test_is_gone():
    assert find_gone(TABLE.read_text("utf-8").splitlines(), ROOT) == []
