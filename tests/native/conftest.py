"""Fixtures of the C tests: the programs plain and under sanitizers, the real runtime, a tree of folders."""

import pytest

from tests.native.building import CannotBuildError, build_programs, runtime_library


def built(kept_builds, sanitizers):
    try:
        return build_programs(kept_builds, sanitizers)
    except CannotBuildError as reason:
        pytest.skip(f"not run: {reason}")


@pytest.fixture(scope="session", params=["", "address,undefined"], ids=["plain", "sanitized"])
def programs(request, kept_builds):
    return built(kept_builds, request.param)


@pytest.fixture(scope="session")
def watched(kept_builds):
    """The programs under a sanitizer of threads."""
    return built(kept_builds, "thread")


@pytest.fixture(scope="session")
def plain(kept_builds):
    return built(kept_builds, "")


@pytest.fixture(scope="session")
def onnxruntime():
    library = runtime_library()
    if library is None:
        pytest.skip("not run: no onnxruntime distribution with a shared library is installed")
    return library
