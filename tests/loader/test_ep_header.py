"""Negotiation of a version for execution providers, with runtimes that deny what they should have."""

from tests.support.building import LOADER_TESTS as HERE
from tests.support.building import ROOT, needed_compiler
from tests.support.needs import official_header
from tests.support.running import run_checked

MACROS = {
    "LATEBIND_EP_MINIMUM": "23",
    "LATEBIND_EP_EXCEPT": '"1.24.1"',
    "LATEBIND_EP_NAME": '"Acme"',
    "LATEBIND_EP_VERSION": '"1.0"',
    "LATEBIND_EP_RANGE": '"1.23 or newer"',
}


def test_a_runtime_without_an_interface_is_refused_and_not_called(shared_folder, tmp_path):
    options = [f"-D{name}={value}" for name, value in MACROS.items()]
    folders = [f"-isystem{official_header(shared_folder).parent}", f"-I{ROOT / 'loader' / 'include'}"]
    program = tmp_path / "negotiate"
    run_checked(
        needed_compiler(), "-std=c11", "-Wall", "-Werror", *options, *folders, HERE / "negotiate.c", "-o", program
    )
    assert run_checked(program) == "checked\n"
