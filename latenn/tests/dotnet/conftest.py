"""The packages and the runtime that the tests of .NET consumers have, too."""

from tests.verify.run.conftest import managed_build, packages, runtime, work

__all__ = ["managed_build", "packages", "runtime", "work"]
