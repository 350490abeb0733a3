"""The tests of latebind are in tests/, those of latenn in latenn/tests/; both have what tests/plugin.py offers."""

import os

pytest_plugins = ["tests.plugin"]
os.environ.pop("VIRTUAL_ENV", None)  # programs under test, such as uv, would install into the tests' own environment
