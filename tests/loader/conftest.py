"""Fixtures of the C tests: the programs plain and under sanitizers."""

import pytest

from tests.support.building import build_programs


@pytest.fixture(scope="session", params=["", "address,undefined"], ids=["plain", "sanitized"])
def programs(request, kept_builds):
    return build_programs(kept_builds, request.param)


@pytest.fixture(scope="session")
def plain(kept_builds):
    return build_programs(kept_builds, "")
