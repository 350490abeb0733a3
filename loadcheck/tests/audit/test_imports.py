"""What importing a wheel imports in any case, as its Python code says."""

import zipfile

import pytest

from loadcheck.readers.imports import find_imported

NATIVE = "p/_core.cpython-312-x86_64-linux-gnu.so"


def find(tmp_path, sources, *natives):
    path = tmp_path / "p-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**sources, **dict.fromkeys(natives or (NATIVE,), "native")}.items():
            archive.writestr(name, text)
    return dict(find_imported(path, natives or (NATIVE,)))


@pytest.mark.parametrize(
    "code",
    [
        "import p._core",
        "from . import _core",
        "from ._core import f",
        "from p import _core",
        "from p._core import *",
        "try:\n    from . import _core\nfinally:\n    pass",
    ],
)
def test_statements_that_always_run_are_followed(tmp_path, code):
    assert find(tmp_path, {"p/__init__.py": code}) == {NATIVE: "p"}


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    from . import _core\nexcept ImportError:\n    pass",
        "if X:\n    from . import _core",
        "def f():\n    from . import _core",
        "with suppress(ImportError):\n    from . import _core",
        "import _core",
        "_core = 1\nfrom . import _core",
        "from . import (",
        "x = " + "(" * 5000,
        "",
    ],
)
def test_others_are_not(tmp_path, code):
    assert find(tmp_path, {"p/__init__.py": code}) == {}


def test_modules_that_import_each_other_end(tmp_path):
    sources = {"p/__init__.py": "from . import a", "p/a.py": "from . import b", "p/b.py": "from . import a, _core"}
    assert find(tmp_path, sources) == {NATIVE: "p"}


def test_each_name_that_users_import_is_one(tmp_path):
    sources = {"p/__init__.py": "", "q/__init__.py": "import p._core", "space/inner/__init__.py": "from p import _core"}
    assert find(tmp_path, sources) == {NATIVE: "q"}
    assert find(tmp_path, {"p/_q/__init__.py": "import p._core", "_q.py": "import p._core"}) == {}
    assert find(tmp_path, {"tests/__init__.py": "import p._core"}) == {NATIVE: "tests"}
    assert find(tmp_path, {}, "_core.abi3.so", "core.abi3.so") == {"core.abi3.so": "core"}


def test_code_in_the_data_folder_is_installed_beside_the_rest(tmp_path):
    sources = {"p-1.0.data/purelib/p/__init__.py": "from . import _core"}
    assert find(tmp_path, sources, f"p-1.0.data/platlib/{NATIVE}") == {f"p-1.0.data/platlib/{NATIVE}": "p"}


def test_modules_of_windows_are_imported_too(tmp_path):
    native = "p/_core.cp312-win_amd64.pyd"
    assert find(tmp_path, {"p/__init__.py": "from . import _core"}, native) == {native: "p"}


def test_compiled_packages_are_loaded_before_their_code(tmp_path):
    natives = ("p/__init__.cpython-312-x86_64-linux-gnu.so", NATIVE)
    assert find(tmp_path, {"p/__init__.py": "from . import _core"}, *natives) == {natives[0]: "p"}


def test_what_is_no_archive_imports_nothing(tmp_path):
    (tmp_path / "p.whl").write_bytes(b"no archive")
    assert find_imported(tmp_path / "p.whl", [NATIVE]) == {}
