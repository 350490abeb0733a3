"""Registers latebind's hatchling hooks from the copy of latebind in this package.

Where latebind itself is installed, its own entry point registers them.
"""

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("latebind") is None:
    sys.path.append(str(Path(__file__).parent / "_vendor"))
    from latebind.build.hatch import hatch_register_build_hook, hatch_register_metadata_hook

    __all__ = ["hatch_register_build_hook", "hatch_register_metadata_hook"]
