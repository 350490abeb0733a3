"""The local registries are real ones: what they refuse, and what happens when they fail."""

import gzip
import http.server
import sys
import threading
import urllib.request
from contextlib import contextmanager
from dataclasses import replace

import pytest

from latebind.ecosystems.npm.publishing import open_npm
from latebind.ecosystems.publishing import RehearsalInputs
from latebind.ecosystems.wheel.publishing import open_pypi
from latebind.errors import InputError, ToolError
from latebind.rehearse.steps import publish
from latebind.verify.run.installers import installer
from tests.support.needs import require_programs

pytestmark = pytest.mark.slow


@contextmanager
def fail_uploads(target, times):
    """The address of a server that answers 500 to so many uploads, and passes everything else on to another."""
    refused = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.forward(None)

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if len(refused) < times:
                refused.append(self.path)
                self.send_error(500)
            else:
                self.forward(body)

        def forward(self, body):
            headers = {key: self.headers[key] for key in ("Content-Type", "Accept") if key in self.headers}
            request = urllib.request.Request(f"{target}{self.path}", data=body, headers=headers)  # noqa: S310
            try:
                with urllib.request.urlopen(request) as answer:  # noqa: S310
                    status, data = answer.status, answer.read()
            except urllib.request.HTTPError as error:
                status, data = error.code, error.read()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def make_inputs(config, release, tmp_path):
    def make(name):
        (tmp_path / name).mkdir()
        return RehearsalInputs(
            config=config,
            folder=tmp_path / name,
            python=sys.executable,
            tool=installer(tmp_path / "home"),
            rid="linux-x64",
        )

    return make


def test_pypi_is_tried_again_after_500_and_a_lasting_failure_can_be_repeated(make_inputs, release):
    files = sorted((release / "packages").glob("*.whl"))
    with open_pypi(make_inputs("pypi")) as registry:
        with fail_uploads(registry.place, times=1) as place:
            assert publish(replace(registry, place=place), files[:1]) == "1 file published, 0 already there"
        with fail_uploads(registry.place, times=1000) as place:
            with pytest.raises(ToolError, match="500") as failure:
                publish(replace(registry, place=place), files)
            assert "a repetition continues with the rest" in failure.value.advice
        assert publish(registry, files) == f"{len(files) - 1} file published, 1 already there"
        files[0].write_bytes(files[0].read_bytes() + b"\n")
        with pytest.raises(InputError, match="with other bytes"):
            publish(registry, files)


def test_npm_publishes_once_and_refuses_other_bytes(make_inputs, release):
    require_programs("npm")
    files = sorted((release / "packages").glob("*.tgz"))
    with open_npm(make_inputs("npm")) as registry:
        assert publish(registry, files[:1]) == "1 file published, 0 already there"
        assert publish(registry, files) == f"{len(files) - 1} files published, 1 already there"
        files[0].write_bytes(gzip.compress(gzip.decompress(files[0].read_bytes()), mtime=1))
        with pytest.raises(InputError, match="with other bytes"):
            publish(registry, files)
