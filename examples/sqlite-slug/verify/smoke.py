"""What `latebind verify` runs in each clean environment: loads the extension, and calls its function."""

import argparse
import json
import sqlite3
import sys
from pathlib import Path

import sqlite_slug


def cases():
    """The problem of each case, "" if there is none."""
    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(True)  # noqa: FBT003  # it has no keyword
    sqlite_slug.load(connection)
    connection.enable_load_extension(False)  # noqa: FBT003
    computed = connection.execute("SELECT slug('Hello, World!')").fetchone()[0]
    connection.close()
    return {"slug": "" if computed == "hello-world" else f"computed {computed}"}


def main(words=None):
    """Write the result, as https://github.com/latebind/latebind/blob/main/docs/consumers.md describes it."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--out", type=Path)
    given, _ = parser.parse_known_args(words)
    result = {"libraries": [sqlite_slug.get_library_path()]}
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        wrong = cases()
        result["passed"] = [name for name, message in wrong.items() if not message]
        result["failed"] = [{"name": name, "message": message} for name, message in wrong.items() if message]
    else:
        result["no_host"] = "this CPython's sqlite3 was built without enable_load_extension()"
    given.out.write_text(json.dumps(result), encoding="utf-8")
    return int(bool(result.get("failed")))


if __name__ == "__main__":
    sys.exit(main())
