"""A model run in a subinterpreter, next to one in the main interpreter: it computes, or importing is refused in words.

python subinterpreted.py MODEL RUNTIME
"""

from __future__ import annotations

import sys

import numpy as np

import latenn

CODE = f"""
import sys, warnings
warnings.simplefilter("ignore")
sys.path[:] = {sys.path!r}
try:
    import latenn, numpy
except ImportError as error:
    print("refused", bool(str(error)))
else:
    with latenn.load({sys.argv[1]!r}, runtime_path={sys.argv[2]!r}) as model:
        print("computed", model.run({{"x": numpy.ones((2, 3), "f4")}})["y"].sum())
"""

model = latenn.load(sys.argv[1], runtime_path=sys.argv[2])
for isolated in (True, False):
    if sys.version_info >= (3, 13):
        import _interpreters  # of some versions

        interpreter = _interpreters.create("isolated" if isolated else "legacy")
        failed = _interpreters.exec(interpreter, CODE)
        _interpreters.destroy(interpreter)
    else:
        import _xxsubinterpreters  # of others

        interpreter = _xxsubinterpreters.create(isolated=isolated)
        failed = _xxsubinterpreters.run_string(interpreter, CODE)
        _xxsubinterpreters.destroy(interpreter)
    print("failed", failed, model.run({"x": np.ones((2, 3), np.float32)})["y"].sum(), flush=True)  # what the test reads
