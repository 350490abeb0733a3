import pytest

from tests.audit.corpus import Bench, Compiler


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
