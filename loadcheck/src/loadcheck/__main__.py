"""`python -m loadcheck`."""

import sys

from loadcheck.cli import main

if __name__ == "__main__":
    sys.exit(main())
