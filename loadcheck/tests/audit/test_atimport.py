"""Which libraries Python code opens as soon as it is imported, by paths from its own folder."""

import ast

import pytest

from loadcheck.readers.atimport import find_at_import

TOP = "import ctypes, os\nfrom pathlib import Path\nhere = os.path.dirname(os.path.abspath(__file__))\n"


def find(code: str) -> set[str]:
    tree = ast.parse(TOP + code)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and "CDLL" in ast.unparse(node.func)]
    return set(find_at_import(tree, calls).values())


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("library = ctypes.CDLL(os.path.join(here, 'odd.so'))", "odd.so"),
        ("ctypes.CDLL(here + '/lib/odd.so').start()", "lib/odd.so"),
        ("path = f'{here}/odd.so'\nlibrary: ctypes.CDLL = ctypes.CDLL(path)", "odd.so"),
        ("ctypes.CDLL(str(Path(__file__).resolve().parent / 'lib' / 'odd.so'))", "lib/odd.so"),
        ("ctypes.CDLL(Path(__file__).parent.joinpath('odd.so'))", "odd.so"),
        ("ctypes.CDLL(os.path.join(os.path.dirname(here), 'lib', 'odd.so'))", "../lib/odd.so"),
        ("ctypes.CDLL(os.path.normpath(os.path.join(here, '../odd.so')))", "../odd.so"),
        ("ctypes.CDLL(os.fspath(Path(here) / 'odd.so'))", "odd.so"),
    ],
)
def test_a_plain_path_is_followed(code, path):
    assert path in find(code)


@pytest.mark.parametrize(
    "code",
    [
        "ctypes.CDLL('odd.so')",
        "ctypes.CDLL('/usr/lib/odd.so')",
        "ctypes.CDLL()",
        "ctypes.CDLL(b'odd.so')",
        "ctypes.CDLL(os.path.join(here, 'odd' + os.environ['X']))",
        "ctypes.CDLL(os.path.join(here, name))",
        "ctypes.CDLL(here.parent.name)",
        "ctypes.CDLL(os.path.join(*here))",
        "def start():\n    ctypes.CDLL(os.path.join(here, 'odd.so'))",
        "if os.name == 'nt':\n    ctypes.CDLL(os.path.join(here, 'odd.so'))",
        "try:\n    ctypes.CDLL(os.path.join(here, 'odd.so'))\nexcept OSError:\n    pass",
        "start = lambda: ctypes.CDLL(os.path.join(here, 'odd.so'))",
        "library = ctypes.CDLL(os.path.join(here, 'odd.so')) if os.name == 'nt' else None",
        "library = os.name == 'nt' and ctypes.CDLL(os.path.join(here, 'odd.so'))",
        "path = os.path.join(here, 'odd.so')\nif not os.path.exists(path):\n    path = other\nctypes.CDLL(path)",
        "path = os.path.join(here, 'odd.so')\npath += '.3'\nctypes.CDLL(path)",
        "path = os.path.join(here, 'odd.so')\nfor path in paths:\n    pass\nctypes.CDLL(path)",
        "path = os.path.join(here, 'odd.so')\n(path, other) = paths\nctypes.CDLL(path)",
        "path = os.path.join(here, 'odd.so')\ndel path\nctypes.CDLL(path)",
        f"ctypes.CDLL(os.path.join(here, '{'x/' * 200}', 'odd.so'))",
        "here = here\nctypes.CDLL(os.path.join(here, 'odd.so'))",
    ],
)
def test_what_is_not_plain_is_left_out(code):
    assert "odd.so" not in find(code)


def test_code_that_is_made_to_take_long_ends():
    doubled = "".join(f"a{number} = a{number - 1} + a{number - 1}\n" for number in range(1, 60))

    assert find(f"a0 = here\n{doubled}ctypes.CDLL(a59)") == set()
