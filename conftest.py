"""What the tests of latebind and loadcheck share."""

import os

pytest_plugins = ["tests.support.plugin", "tests.support.latenn"]
for name in ("VIRTUAL_ENV", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT"):  # of nox
    os.environ.pop(name, None)  # programs under test, such as uv, would install into the tests' own environment
