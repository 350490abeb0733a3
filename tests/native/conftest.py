"""Fixtures of the C tests: the programs plain and under sanitizers, the real runtime, a tree of folders."""

import pytest

from tests.native.building import CannotBuildError, build_programs, runtime_library


def built(shared, sanitizers):
    try:
        return build_programs(shared, sanitizers)
    except CannotBuildError as reason:
        pytest.skip(f"not run: {reason}")


@pytest.fixture(scope="session", params=["", "address,undefined"], ids=["plain", "sanitized"])
def programs(request, shared):
    return built(shared, request.param)


@pytest.fixture(scope="session")
def watched(shared):
    """The programs under a sanitizer of threads."""
    return built(shared, "thread")


@pytest.fixture(scope="session")
def plain(shared):
    return built(shared, "")


@pytest.fixture(scope="session")
def onnxruntime():
    library = runtime_library()
    if library is None:
        pytest.skip("not run: no onnxruntime distribution with a shared library is installed")
    return library
