"""`python -m ci.machines.macos arm64|x86_64 FOLDER PROGRAM [ARGUMENT ...]`: run a program for macOS.

The folder keeps what was read of its files.
"""

import sys
from pathlib import Path

from ci.machines import NOT_SUPPORTED
from ci.machines.macos.dyld import NotLoadedError
from ci.machines.macos.image import UnusableError
from ci.machines.macos.machine import run_program
from ci.machines.macos.process import NotSupportedError, WrongCallError
from ci.machines.macos.processor import FaultError

if __name__ == "__main__":
    try:
        sys.exit(run_program(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]))
    except (NotLoadedError, UnusableError, WrongCallError, FaultError) as error:
        sys.exit(f"macos: {error}")
    except NotSupportedError as error:
        print(f"macos: {error}", file=sys.stderr)
        sys.exit(NOT_SUPPORTED)
