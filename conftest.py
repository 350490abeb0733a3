"""The tests of latebind are in tests/, those of latenn in latenn/tests/; both have what tests/plugin.py offers."""

import os

pytest_plugins = ["tests.plugin"]
for name in ("VIRTUAL_ENV", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT"):  # of nox
    os.environ.pop(name, None)  # programs under test, such as uv, would install into the tests' own environment
