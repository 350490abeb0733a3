"""`python -m latebind`."""

import sys

from latebind.cli import main

if __name__ == "__main__":
    sys.exit(main())
