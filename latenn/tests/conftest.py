"""latenn's tests run in latenn/, with latebind installed; `tests/support` is what they share with latebind's."""

pytest_plugins = ["tests.support.plugin", "tests.support.latenn"]
