"""A registry on this machine with some npm packages, for installers that resolve versions themselves."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from tests.client import member


@contextmanager
def serve_registry(tarballs: Iterable[Path]) -> Iterator[str]:
    """The address of a registry that has these packages and no others."""
    files = {path.name: path.read_bytes() for path in tarballs}
    manifests = {path.name: json.loads(member(path, "/package.json")) for path in tarballs}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = unquote(self.path).lstrip("/")
            rows = {file: fields for file, fields in manifests.items() if fields["name"] == name}
            body = files.get(name) or (json.dumps(_describe(address, rows, files)).encode() if rows else b"")
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()


def _describe(address: str, rows: dict[str, dict], files: dict[str, bytes]) -> dict:
    """The answer of a registry for a package (its documentation: "Package Metadata")."""
    versions = {}
    for file, fields in rows.items():
        digest = base64.b64encode(hashlib.sha512(files[file]).digest()).decode()
        shasum = hashlib.sha1(files[file]).hexdigest()  # noqa: S324  # Yarn 1 asks for it
        dist = {"tarball": f"{address}/{file}", "integrity": f"sha512-{digest}", "shasum": shasum}
        versions[fields["version"]] = {**fields, "dist": dist}
    latest = next(reversed(versions))
    return {"name": versions[latest]["name"], "dist-tags": {"latest": latest}, "versions": versions}
