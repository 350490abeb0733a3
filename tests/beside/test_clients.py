"""Where the package that an ecosystem knows works, a package that latebind made does."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from pathlib import Path

import pytest

from ci.machines import make_once
from tests.beside import java, node, python
from tests.beside.pairs import WORKS, outcome
from tests.ecosystems.maven.test_jar import pack_jar
from tests.ecosystems.npm.test_pack import NPM, RIDS, project
from tests.support.client import MODEL, pack_project
from tests.support.needs import require_programs
from tests.support.npm_tools import install
from tests.support.running import CLI, make_environment, run_checked

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.system() != "Linux", reason="not run: the clients are tried on Linux"),
]

DATA = f"__import__('base64').b64decode('{MODEL}')"
WITH_RUNTIME = (
    "import numpy, onnxruntime; x = numpy.array([1, 2, 3], 'f')"
    f"; assert onnxruntime.InferenceSession({DATA}).run(None, {{'x': x}})[0].tolist() == [2, 4, 6]; print('works')"
)
WITH_DEMO = f"import demo; assert demo.Model({DATA}).run([1, 2, 3]) == [2, 4, 6]; print('works')"
LOAD = (
    "try { process.dlopen({ exports: Object.create(null) }, it.libraryPath()); }"
    " catch (error) { if (!/regist/.test(error.message)) throw error; } console.log('works');"
)
"""Loads the library, which is no add-on: Node.js says so when it is loaded."""
WITH_JNA = 'if (com.sun.jna.Native.POINTER_SIZE == 8) System.out.println("works");'
LOAD_JAR = 'if (io.github.acme.tiny.NativeLibrary.load().isAbsolute()) System.out.println("works");'
JNA = Path("/usr/share/java/jna.jar")
SHARP = "if (!it.versions.vips) throw new Error('no vips'); console.log('works');"


@pytest.fixture(scope="module")
def python_places(shared_folder):
    """Makes the place for a client; and the versions of what it has."""

    environment = shared_folder / "beside-environment"  # made in its place: its programs name their interpreter

    def make(folder):
        run_checked(*CLI, "new", "demo", cwd=folder)
        run_checked(*CLI, "-C", folder / "demo", "pack", timeout=600)
        (wheel,) = folder.glob("demo/dist/*.whl")
        make_environment(environment, wheel, "onnxruntime", *python.TOOLS)

    folder = make_once(shared_folder / "beside-python", make)
    (wheel,) = folder.glob("demo/dist/*.whl")
    interpreter = environment / "bin/python"
    asked = "import importlib.metadata as m, json; print(json.dumps([(d.name, d.version) for d in m.distributions()]))"
    versions = {name.lower(): version for name, version in json.loads(run_checked(interpreter, "-c", asked))}
    packages = {"theirs": ("onnxruntime",), "ours": (str(wheel), "onnxruntime")}
    codes = {"theirs": WITH_RUNTIME, "ours": WITH_DEMO}

    def place(kind, folder):
        return python.Place(folder, interpreter, codes[kind], packages[kind])

    return place, versions


@pytest.fixture(scope="module")
def node_places(shared_folder):
    """Makes the place for a client; and the versions of what it has."""

    def make(folder):
        for name in ("tools", "app", "packed"):
            (folder / name).mkdir()
        (folder / "tools/package.json").write_text("{}")
        tools = install(folder / "tools", *node.TOOLS)
        for program in (tools / node.DENO / "deno", tools / node.BUN / "bin/bun"):
            program.chmod(0o755)
        pack_project(project(folder / "packed", npm=NPM, rids=RIDS[:1]))
        (folder / "app/package.json").write_text('{"private": true, "type": "commonjs"}')
        install(folder / "app", *sorted((folder / "packed/dist").glob("*.tgz")), "sharp@0.34")

    folder = make_once(shared_folder / "beside-node", make)
    tools = folder / "tools/node_modules"
    files = [*tools.glob("*/package.json"), *tools.glob("@*/*/package.json")]
    versions = {file.parent.relative_to(tools).as_posix(): json.loads(file.read_bytes())["version"] for file in files}
    versions["sharp"] = json.loads((folder / "app/node_modules/sharp/package.json").read_bytes())["version"]
    main, native = (f"file:{folder}/packed/dist/acme-tiny{part}-1.2.3.tgz" for part in ("", "-linux-x64"))
    packages = {
        "theirs": ("sharp", SHARP, {"sharp": "0.34"}),
        "ours": ("@acme/tiny", LOAD, {"@acme/tiny": main, "@acme/tiny-linux-x64": native}),
    }

    def place(kind, where):
        (where / "home").mkdir()
        (where / "store").mkdir()
        shutil.copytree(folder / "app", where / "app", symlinks=True, copy_function=os.link)
        return node.Place(where / "app", tools, *packages[kind])

    return place, versions


@pytest.fixture(scope="module")
def java_places(tmp_path_factory):
    """Makes the place for a client."""
    require_programs("java", "javac", "jar", "jshell")
    if not JNA.is_file():
        pytest.skip("not run: JNA is not installed: apt-get install libjna-java")
    jar = pack_jar(tmp_path_factory.mktemp("jar"))["jar"]
    packages = {"theirs": (JNA, "com.sun.jna", WITH_JNA), "ours": (jar, "io.github.acme.tiny", LOAD_JAR)}
    return lambda kind, folder: java.Place(folder, *packages[kind])


@pytest.fixture
def compare(tmp_path, record_property):
    """Tries a client with both packages, and keeps the row."""

    def compare_both(ecosystem, client, place, version, reference):
        outcomes = {}
        for kind in ("theirs", "ours"):
            (tmp_path / kind).mkdir()
            outcomes[kind] = outcome(client, place(kind, tmp_path / kind))
        # A row has no text that was printed: it has folders of this machine.
        words = [WORKS if text == WORKS else "fails" for text in outcomes.values()]
        record_property("row", [ecosystem, client.name, version, reference, *words])
        theirs, ours = outcomes.values()
        assert ours == WORKS or (client.says and client.says in ours), ours
        assert (theirs == WORKS) != client.reference_fails, theirs

    return compare_both


def tell_version(client, versions, own):
    """The version of a client; `own` is that of the interpreter."""
    found = versions.get(client.version.lower())
    return f"{client.version} {found}" if found else client.version or own


@pytest.mark.parametrize("name", python.CLIENTS)
def test_python(compare, python_places, name):
    place, versions = python_places
    client = python.CLIENTS[name]
    version = tell_version(client, versions, f"CPython {sys.version.split()[0]}")
    compare("Python", client, place, version, f"onnxruntime {versions['onnxruntime']}")


@pytest.mark.parametrize("name", node.CLIENTS)
def test_node(compare, node_places, name):
    place, versions = node_places
    client = node.CLIENTS[name]
    version = tell_version(client, versions, f"node {run_checked('node', '--version').strip().removeprefix('v')}")
    compare("npm", client, place, version, f"sharp {versions['sharp']}")


@pytest.mark.parametrize("name", java.CLIENTS)
def test_java(compare, java_places, name):
    client = java.CLIENTS[name]
    version = client.version or run_checked("java", "--version").splitlines()[0]
    compare("Java", client, java_places, version, f"JNA {JNA.resolve().stem.rpartition('-')[2]}")
