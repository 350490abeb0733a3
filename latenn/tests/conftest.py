"""latenn's tests run in latenn/, with latebind installed; `testing` is what they share with latebind's."""

pytest_plugins = ["testing.plugin", "testing.latenn"]
