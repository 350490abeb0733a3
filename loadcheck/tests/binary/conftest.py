from audit.conftest import bench, compiler

__all__ = ["bench", "compiler"]
