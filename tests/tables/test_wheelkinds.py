"""The kinds of wheels, and the Pythons that they are for."""

import sys
import sysconfig

import pytest

from latebind.backend.kinds import abi_tags
from latebind.tables.wheelkinds import kind_problem
from loadcheck.facts import module_abi


def test_this_cpythons_own_names_agree():
    abi = module_abi(f"x{sysconfig.get_config_var('EXT_SUFFIX')}")
    assert abi_tags("cpython") == f"cp{sys.version_info.major}{sys.version_info.minor}-{abi}"
    assert abi_tags("cp310-abi3") == "cp310-abi3"


@pytest.mark.parametrize(
    ("kind", "is_known"),
    [("cp315-abi3.abi3t", True), ("cp314-abi3.abi3t", False), ("cp315-abi3t", False), ("cp310-abi3", True)],
)
def test_the_stable_abi_of_free_threaded_cpython_begins_with_3_15(kind, is_known):
    problem = kind_problem("tiny", kind, kind, elsewhere="")
    assert (problem is None) == is_known
    assert is_known or "append .abi3t to cp315-abi3 or newer" in problem[1]
