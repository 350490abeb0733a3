"""The bench of loadcheck's tests, on which packages are made."""

from audit.conftest import bench, compiler

__all__ = ["bench", "compiler"]
