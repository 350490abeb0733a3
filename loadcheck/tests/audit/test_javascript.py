"""Which add-ons JavaScript code opens."""

import pytest

from loadcheck.readers.javascript import ANY_ADDON, find_addons


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("require('./tiny.linux-x64-gnu.node')", ("tiny.linux-x64-gnu.node",)),
        ('existsSync(join(__dirname, "tiny.node"))', ("tiny.node",)),
        ("require('./build/' + 'tiny-' + arch + '-gnu.node')", ("-gnu.node",)),
        ("require(process.env.TINY_PATH) || require('./tiny.node')", ("tiny.node",)),
        ("import x from './other.js'; import('./third.mjs')", ()),
        ("a.node = b.node", ()),
    ],
)
def test_names_of_addons(code, names):
    assert find_addons(code.encode()) == names


@pytest.mark.parametrize(
    "code",
    [
        "require('node-gyp-build')(__dirname)",
        'import load from "bindings"',
        "process.dlopen(module, path)",
        "fs.readdirSync(__dirname).forEach(open)",
        "require(path)",
        "nodeRequire(path.join(a, b))",
        "await import(path)",
        "require(`./${name}`)",
        "join(__dirname, `${name}.node`)",
        "name + '.node'",
    ],
)
def test_code_that_may_open_any_addon(code):
    assert ANY_ADDON in find_addons(code.encode())
