import hypothesis
import pytest

from corpus.packages import Bench, Compiler
from loadcheck.audit import audit_here
from loadcheck.engine.policy import Policy, Waiver

# How long one case takes says nothing where other workers keep the processors busy.
hypothesis.settings.register_profile("loadcheck", deadline=None)
hypothesis.settings.load_profile("loadcheck")


@pytest.fixture(scope="session")
def compiler(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    # Workers of one xdist run have neighbouring folders: what one compiled serves all.
    shared = base.parent if base.name.startswith("popen-") else base
    folder = shared / "compiled"
    folder.mkdir(exist_ok=True)
    return Compiler(folder)


@pytest.fixture
def bench(compiler, tmp_path):
    return Bench(compiler, tmp_path)


def make_report(bench):
    """A report with findings, a waived one and a skipped check."""
    policy = Policy(waivers=(Waiver(code="LB611", subject="*", reason="a sample"),))
    files = {
        "latenn/liblatenn.so": bench.linked_library(),
        "latenn/.env": b"x",
        "latenn/a b.dylib": bytes.fromhex("cffaedfe"),
    }
    return audit_here(bench.wheel(files), policy)


@pytest.fixture
def report(bench):
    return make_report(bench)
