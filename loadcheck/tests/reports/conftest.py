from audit.conftest import bench, compiler
from index.test_environment import environment, library

__all__ = ["bench", "compiler", "environment", "library"]
