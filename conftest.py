"""The tests of latebind are in tests/, those of latenn in latenn/tests/; both have what tests/plugin.py offers."""

pytest_plugins = ["tests.plugin"]
