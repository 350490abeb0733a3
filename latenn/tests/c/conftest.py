"""Fixtures of latenn's C tests: the programs plain and under sanitizers."""

import pytest
from c.building import build_latenn


@pytest.fixture(scope="session", params=["", "address,undefined"], ids=["plain", "sanitized"])
def programs(request, kept_builds):
    return build_latenn(kept_builds, request.param)


@pytest.fixture(scope="session")
def thread_programs(kept_builds):
    """The programs under a sanitizer of threads."""
    return build_latenn(kept_builds, "thread")


@pytest.fixture(scope="session")
def plain(kept_builds):
    return build_latenn(kept_builds, "")
