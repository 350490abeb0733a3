"""How a process ended, and the line of its output that counts."""

import pytest

from latebind.text import decisive_line, ending


@pytest.mark.parametrize(
    ("status", "form"),
    [
        (0, "ended with status 0"),
        (3, "ended with status 3"),
        (-11, "ended by SIGSEGV (11)"),
        (139, "ended by SIGSEGV (11)"),
        (-6, "ended by SIGABRT (6)"),
        (145, "ended with status 145"),
        (150, "ended with status 150"),
        (255, "ended with status 255"),
        (0xC0000005, "ended by an access violation (0xC0000005)"),
    ],
)
def test_signals_have_names(status, form):
    assert ending(status) == form


CHAINED = """\
Traceback (most recent call last):
  File "a.py", line 1, in f
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
    raise OSError(
        "no runtime")
OSError: no runtime
help: install one
"""
DOTNET = (
    "Unhandled exception. System.DllNotFoundException: Unable to load tiny\n   at Tiny.Add()\n   at Program.Main()\n"
)
NODE = """\
node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module 'tiny'
Require stack:
- /a.cjs
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15) {
  code: 'MODULE_NOT_FOUND'
}

Node.js v20.20.2
"""


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (CHAINED, "OSError: no runtime"),
        (DOTNET, "System.DllNotFoundException: Unable to load tiny"),
        (NODE, "Error: Cannot find module 'tiny'"),
        ("terminate called\n  what():  no runtime\n\n", "what():  no runtime"),
        ("", ""),
    ],
    ids=["Python", ".NET", "Node.js", "C++", "nothing"],
)
def test_the_exception_is_the_line_that_counts(output, line):
    assert decisive_line(output) == line
