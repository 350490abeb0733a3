import hashlib
import io
import json
import re
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from audit.conftest import bench, compiler

__all__ = ["bench", "compiler"]


class IndexServer(ThreadingHTTPServer):
    """A package index with the simple API: JSON or HTML, with or without ranges and metadata files.

    `answers` replaces the answer for a path by a function that gets the request's handler.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = {}
        self.answers = {}
        self.asked = []
        self.has_ranges = self.is_json = self.has_metadata = True
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/simple"

    def add(self, name, files=None, metadata="", version="1.0", tag="py3-none-any"):
        """Publish a wheel with some files and lines of METADATA."""
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        text = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{metadata}".encode()
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in {**(files or {}), f"{info}/METADATA": text}.items():
                archive.writestr(path, data)
        file = f"{name.replace('-', '_')}-{version}-{tag}.whl"
        self.files.setdefault(name, {})[file] = buffer.getvalue()
        self.files[name][f"{file}.metadata"] = text
        return file


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        server = self.server
        server.asked.append((self.path, dict(self.headers)))
        if answer := server.answers.get(self.path):
            answer(self)
            return
        kind, name, *rest = self.path.strip("/").split("/")
        files = server.files.get(name)
        if files is None:
            self.answer(b"", status=404)
        elif kind == "simple":
            data = self._list_json(name, files) if server.is_json else self._list_html(name, files)
            etag = f'"{hashlib.sha256(data).hexdigest()}"'
            if self.headers.get("If-None-Match") == etag:
                self.answer(b"", status=304)
            else:
                form = "application/vnd.pypi.simple.v1+json" if server.is_json else "text/html"
                self.answer(data, **{"Content-Type": form, "ETag": etag})
        else:
            self._send_file(files[rest[0]])

    def _list_json(self, name, files):
        rows = [
            {
                "filename": file,
                "url": f"../../files/{name}/{file}",
                "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
                "core-metadata": {"sha256": hashlib.sha256(files[f"{file}.metadata"]).hexdigest()}
                if self.server.has_metadata and f"{file}.metadata" in files
                else False,
            }
            for file, data in files.items()
            if not file.endswith(".metadata")
        ]
        return json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": rows}).encode()

    def _list_html(self, name, files):
        rows = [
            f'<a href="../../files/{name}/{file}#sha256={hashlib.sha256(data).hexdigest()}">{file}</a>'
            for file, data in files.items()
            if not file.endswith(".metadata")
        ]
        return "\n".join(["<!DOCTYPE html>", *rows]).encode()

    def _send_file(self, data):
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if match is None or not self.server.has_ranges:
            self.answer(data)
            return
        start = int(match[1]) if match[1] else max(len(data) - int(match[2]), 0)
        end = min(int(match[2]), len(data) - 1) if match[1] else len(data) - 1
        part = data[start : end + 1]
        self.answer(part, status=206, **{"Content-Range": f"bytes {start}-{end}/{len(data)}"})

    def answer(self, data, status=200, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(data), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server():
    with IndexServer() as running:
        yield running
        running.shutdown()


@pytest.fixture
def index(server, tmp_path_factory, monkeypatch):
    """The server as the only index of this machine's installers, and an empty cache."""
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_OFFLINE", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("UV_CONFIG_FILE", str(tmp_path_factory.mktemp("uv") / "none.toml"))
    monkeypatch.setenv("PIP_INDEX_URL", server.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("LOADCHECK_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    return server
