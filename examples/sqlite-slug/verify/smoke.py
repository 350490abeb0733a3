"""What `latebind verify` runs in each clean environment: loads the extension, and calls its function."""

import argparse
import json
import sqlite3
import sys
from pathlib import Path

import sqlite_slug


def compute():
    """What the extension's function makes of a title."""
    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(True)  # noqa: FBT003  # it has no keyword
    sqlite_slug.load(connection)
    (made,) = connection.execute("SELECT slug('Hello, World!')").fetchone()
    connection.close()
    return made


def main(words=None):
    """Write the result, as https://github.com/latebind/latebind/blob/main/docs/consumers.md describes it."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--out", type=Path)
    given, _ = parser.parse_known_args(words)
    result = {"libraries": [sqlite_slug.get_library_path()]}
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        result["no_host"] = "this CPython's sqlite3 was built without enable_load_extension()"
    elif (made := compute()) == "hello-world":
        result["passed"] = ["slug"]
    else:
        result["failed"] = [{"name": "slug", "message": f"computed {made}"}]
    given.out.write_text(json.dumps(result), encoding="utf-8")
    return int("failed" in result)


if __name__ == "__main__":
    sys.exit(main())
