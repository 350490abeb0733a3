"""A local npm registry for tests."""

import base64
import hashlib
import io
import json
import tarfile

from index.conftest import IndexServer


def pack(files):
    """A tarball as `npm pack` makes it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for inner, data in files.items():
            member = tarfile.TarInfo(f"package/{inner}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


class NpmServer(IndexServer):
    """An npm registry. `projects` has the documents that it answers with."""

    def __init__(self):
        super().__init__()
        self.projects = {}

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/npm/"

    def add(self, name, files=None, version="1.0.0", latest="", without=(), **fields):
        """Publish a version; the document of the registry lacks the fields `without`."""
        manifest = {"name": name, "version": version, **fields}
        data = pack({"package.json": json.dumps(manifest).encode(), **(files or {})})
        path = f"/npm/tarballs/{name.replace('/', '-')}-{version}.tgz"
        self.answers[path] = lambda request: request.answer(data)
        digest = base64.b64encode(hashlib.sha512(data).digest()).decode()
        dist = {"tarball": f"http://127.0.0.1:{self.server_port}{path}", "integrity": f"sha512-{digest}"}
        project = self.projects.setdefault(name, {"name": name, "versions": {}, "dist-tags": {}})
        shown = {key: value for key, value in manifest.items() if key not in without}
        project["versions"][version] = {**shown, "dist": dist}
        project["dist-tags"]["latest"] = latest or version
        self.answers[f"/npm/{name.replace('/', '%2f')}"] = lambda request: request.answer(json.dumps(project).encode())
        return path
