"""Which libraries Python code opens by their paths."""

import pytest

from loadcheck.readers.contents import File
from loadcheck.readers.opened import find_opened, list_opened

HERE = "import ctypes, os\nhere = os.path.dirname(__file__)\n"


def opened(code: str, *libraries: str, script: str = "pkg/__init__.py") -> set[str]:
    scripts = [File(name=script, size=1, opened=find_opened(code.encode()))]
    return set(list_opened([*scripts, *(File(name=name, size=1, format="elf") for name in libraries)]))


@pytest.mark.parametrize(
    "code",
    [
        HERE + "ctypes.CDLL(os.path.join(here, 'libodd.so.3'))",
        HERE + "ctypes.CDLL(f'{here}/libodd.so.3')",
        HERE + "ctypes.CDLL(here + '/libodd.so.3', mode=ctypes.RTLD_GLOBAL)",
        HERE + "ctypes.CDLL(name='%s/libodd.so.3' % here)",
        HERE + "ctypes.CDLL('{}/libodd.so.{}'.format(here, 3)) or ctypes.CDLL(os.path.join(here, 'libodd.so.3'))",
        HERE + "if (path := os.path.join(here, 'libodd.so.3')):\n    ctypes.CDLL(path)",
        HERE + "names = []\nnames.append('libodd.so.3')\nfor each in names:\n    ctypes.CDLL(os.path.join(here, each))",
        HERE + "[ctypes.PyDLL(os.path.join(here, each)) for each in ('libodd.so.3', 'libeven.so')]",
        HERE + "class Loader:\n    def load(self, name):\n        ctypes.CDLL(os.path.join(here, name))\n"
        "Loader().load('libodd.so.3')",
        HERE + "def find():\n    return os.path.join(here, 'libodd.so.3')\nctypes.CDLL(find())",
        HERE + "from glob import glob\nfor each in glob(os.path.join(here, '*.so*')):\n    ctypes.CDLL(each)",
        HERE + "import numpy\nnumpy.ctypeslib.load_library('libodd', here)",
        "from importlib.resources import files\nimport ctypes\nctypes.CDLL(str(files('pkg') / 'libodd.so.3'))",
        "from .paths import FOLDER\nimport ctypes\nctypes.CDLL(f'{FOLDER}/libodd.so.3')",
        "from .paths import FOLDER\nimport ctypes\nctypes.CDLL(FOLDER / 'libodd.so.3')",
        "import ctypes, os\nctypes.CDLL(os.path.abspath('libodd.so.3'))",
        HERE + "if os.name == 'nt':\n    pass\nelse:\n    ctypes.CDLL(os.path.join(here, 'libodd.so.3'))",
        HERE + "if os.name != 'nt':\n    ctypes.CDLL(os.path.join(here, 'libodd.so.3'))",
    ],
)
def test_finds_what_code_opens(code):
    assert opened(code, "pkg/libodd.so.3", "pkg/unrelated.txt.so") >= {"pkg/libodd.so.3"}


@pytest.mark.parametrize(
    "code",
    [
        HERE + "print(os.path.join(here, 'libodd.so.3'))",
        HERE + "ctypes.CDLL(None)",
        HERE + "ctypes.CDLL('libodd.so.3')",
        HERE + "ctypes.CDLL(os.path.join(here, 'libeven.so'))\nname = 'libodd.so.3'",
        HERE + "ctypes.CDLL('/usr/lib/libodd.so.3')",
        HERE + "name = 'libodd.so.3'\nctypes.CDLL(name)",
        HERE + "log(name='libodd.so.3')\nctypes.CDLL(os.path.join(here, 'deps', name))",
        HERE + "if os.name == 'nt':\n    ctypes.CDLL(os.path.join(here, 'libodd.so.3'))",
        HERE + "ctypes.CDLL(os.path.join(here, 'libodd.so.3')",
        HERE + "x = " + "(" * 5000,
        "ctypes.CDLL(\0)",
    ],
)
def test_finds_nothing_that_code_does_not_open(code):
    assert opened(code, "pkg/libodd.so.3") == set()


def test_code_of_tests_does_not_count():
    code = HERE + "ctypes.CDLL(os.path.join(here, 'libodd.so.3'))"

    assert opened(code, "pkg/libodd.so.3", script="pkg/tests/test_odd.py") == set()


def test_long_code_is_not_parsed():
    assert find_opened(b"CDLL('/x/y')\n" * 2) != ()
    assert find_opened(b"CDLL('/x/y')\n" * 50_000) == ()


def test_attributes_of_other_objects_are_not_variables():
    code = HERE + "other.name = 'libodd.so.3'\nname = 'libeven.so'\nctypes.CDLL(os.path.join(here, thing.name))"
    own = HERE + "class A:\n    def f(self):\n        self.name = 'libodd.so.3'\n"

    assert opened(code, "pkg/libodd.so.3") == set()
    assert opened(f"{own}        ctypes.CDLL(os.path.join(here, self.name))", "pkg/libodd.so.3") == {"pkg/libodd.so.3"}


def test_a_path_that_may_be_made_of_many_texts_is_not_plain_to_see():
    few, many = ([f"lib{number}.so" for number in range(size)] for size in (50, 200))

    for names in (few, many):
        code = HERE + f"for name in {names}:\n    ctypes.CDLL(os.path.join(here, name))"
        assert opened(code, "pkg/lib7.so") == ({"pkg/lib7.so"} if names is few else set())


def test_the_order_of_calls_counts_outside_of_functions():
    calls = "ctypes.CDLL(os.path.join(here, 'liba.so'))\nctypes.CDLL(os.path.join(here, 'libb.so'))\n"

    assert {(opened.line, *opened.names) for opened in find_opened((HERE + calls).encode())} == {
        (3, "liba.so"),
        (4, "libb.so"),
    }
    assert [opened.line for opened in find_opened(f"{HERE}def f():\n    {calls.splitlines()[0]}".encode())] == [0]


@pytest.mark.parametrize(
    ("code", "most"),
    [
        ("CDLL(os.path.join(here, 'a'))\n" * 5000, 100),
        ("def f(a): return a\nf(a=1)\n" * 5000 + "CDLL(os.path.join(here, f(f(1))))\n" * 50, 0),
        ("x = a" + "[0]" * 50_000 + "\nCDLL(os.path.join(here, x))", 0),
    ],
    ids=["many calls", "many values", "deep"],
)
def test_code_that_is_written_to_take_long(code, most):
    assert len(find_opened((HERE + code).encode())) == most
