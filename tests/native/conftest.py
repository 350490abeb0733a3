"""Fixtures of the C tests: the programs plain and under sanitizers, the real runtime, a tree of folders."""

import pytest

from tests.native.building import build_programs, runtime_library


@pytest.fixture(scope="session", params=["", "address,undefined"], ids=["plain", "sanitized"])
def programs(request, kept_builds):
    return build_programs(kept_builds, request.param)


@pytest.fixture(scope="session")
def thread_programs(kept_builds):
    """The programs under a sanitizer of threads."""
    return build_programs(kept_builds, "thread")


@pytest.fixture(scope="session")
def plain(kept_builds):
    return build_programs(kept_builds, "")


@pytest.fixture(scope="session")
def onnxruntime():
    library = runtime_library()
    if library is None:
        pytest.skip("not run: no onnxruntime distribution with a shared library is installed")
    return library
