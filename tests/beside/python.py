"""Clients of Python packages."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest

from latebind.compilers.interpreters import interpreters
from tests.beside.pairs import WORKS, Clients, run_quietly, without_proc
from tests.support.needs import require_mounts

UV = (sys.executable, "-m", "uv")
TOOLS = (
    *("pip", "setuptools", "uv", "virtualenv", "tox", "nox", "pipx", "hatch", "shiv", "pex", "pyinstaller"),
    *("cx_Freeze", "cython", "mypy", "pytest", "pytest-xdist", "behave", "coverage", "viztracer", "pyinstrument"),
    *("debugpy", "ipython", "nbclient", "ipykernel", "flask", "gunicorn", "waitress", "uvicorn", "hypercorn"),
    *("twisted", "joblib", "dask", "billiard", "mpire", "gevent", "trio"),
)
"""What is installed beside the packages, for clients that are programs of the same environment."""


@dataclass(frozen=True)
class Place:
    """Where a client is tried with one of the two packages."""

    folder: Path
    """Empty, and its own."""
    python: Path
    """The interpreter of an environment with the package and all tools."""
    code: str
    """The program, in one line."""
    packages: tuple[str, ...]
    """What an installer is told to install."""

    def run(self, *command: object, **options: object) -> str:
        """What a command printed, which must succeed."""
        return run_quietly(*command, **{"cwd": self.folder, "env": environment(), **options})

    def write(self, name: str = "app.py", text: str = "PROGRAM\n") -> Path:
        """A file of the folder; PROGRAM is the program."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("PROGRAM", self.code), encoding="utf-8")
        return file

    def tool(self, name: str) -> Path:
        """A program of the environment."""
        return self.python.with_name(name)

    def make(self, folder: Path, *options: object, python: object = sys.executable) -> Path:
        """The interpreter of a new environment with the package."""
        self.run(*UV, "venv", "-q", "-p", python, *options, folder)
        self.run(*UV, "pip", "install", "-q", "-p", folder / "bin/python", *self.packages)
        return folder / "bin/python"


def environment(**more: str) -> dict[str, str]:
    """Few variables, so that nothing comes from the tests' own."""
    keep = ("PATH", "HOME", "LANG", "TMPDIR", "PIP_CONFIG_FILE", "SSL_CERT_FILE", "UV_CACHE_DIR", "UV_INDEX_URL")
    return {**{key: value for key, value in os.environ.items() if key in keep}, **more}


CLIENTS: Clients[Place] = Clients()
client = CLIENTS.add


@client("python app.py")
def start_script(at: Place) -> str:
    return at.run(at.python, at.write())


@client("python -c")
def start_command(at: Place) -> str:
    return at.run(at.python, "-c", at.code)


@client("python < app.py")
def start_input(at: Place) -> str:
    return at.run(at.python, input=f"{at.code}\n")


@client("python -i, from a pipe")
def start_prompt(at: Place) -> str:
    return at.run(at.python, "-i", "-q", input=f"{at.code}\n")


@client("python -m app")
def start_module(at: Place) -> str:
    at.write("app/__main__.py")
    return at.run(at.python, "-m", "app")


@client("python -I")
def start_isolated(at: Place) -> str:
    return at.run(at.python, "-I", at.write())


@client("python -OO -B -P")
def start_optimized(at: Place) -> str:
    options = ("-OO", "-B", "-P") if sys.version_info >= (3, 11) else ("-OO", "-B")
    return at.run(at.python, *options, at.write())


@client("python -X importtime -W error::ImportWarning")
def start_with_warnings(at: Place) -> str:
    return at.run(at.python, "-X", "importtime", "-W", "error::ImportWarning", at.write())


@client("runpy.run_path()")
def start_runpy(at: Place) -> str:
    return at.run(at.python, "-c", f"import runpy; runpy.run_path({str(at.write())!r})")


@client("exec() with other globals")
def start_exec(at: Place) -> str:
    return at.run(at.python, "-c", f"exec({at.code!r}, dict())")


@client("a working folder that is gone")
def start_without_folder(at: Place) -> str:
    gone = at.folder / "gone"
    gone.mkdir()
    return at.run("sh", "-c", 'cd gone && rmdir ../gone && exec "$0" "$1"', at.python, at.write())


@client("python -m venv, pip", "pip")
def start_pip(at: Place) -> str:
    at.run(at.python, "-m", "virtualenv", "-q", "env", "--no-seed")
    at.run(at.python, "-m", "pip", "--python", "env/bin/python", "install", "-q", *at.packages)
    return at.run(at.folder / "env/bin/python", "-c", at.code)


@client("uv venv, symbolic links", "uv")
def start_linked(at: Place) -> str:
    at.run(*UV, "venv", "-q", "-p", sys.executable, "env")
    at.run(*UV, "pip", "install", "-q", "-p", "env/bin/python", "--link-mode", "symlink", *at.packages)
    return at.run(at.folder / "env/bin/python", "-c", at.code)


@client("uv run --with", "uv")
def start_uv_run(at: Place) -> str:
    options = [word for package in at.packages for word in ("--with", package)]
    return at.run(*UV, "run", "-q", "--no-project", "-p", sys.executable, *options, "python", "-c", at.code)


@client("uv run, a script with its requirements", "uv")
def start_uv_script(at: Place) -> str:
    at.write(text=f"# /// script\n# dependencies = {needs(at)}\n# ///\nPROGRAM\n")
    return at.run(*UV, "run", "-q", "-p", sys.executable, "--script", "app.py")


@client("pip install --target, PYTHONPATH", "pip")
def start_target(at: Place) -> str:
    at.run(at.python, "-m", "pip", "install", "-q", "--target", "lib", *at.packages)
    return at.run(sys.executable, "-S", at.write(), env=environment(PYTHONPATH=str(at.folder / "lib")))


@client("pip install --target, a relative PYTHONPATH", "pip")
def start_relative_target(at: Place) -> str:
    at.run(at.python, "-m", "pip", "install", "-q", "--target", "lib", *at.packages)
    return at.run(sys.executable, "-S", at.write(), env=environment(PYTHONPATH="lib"))


@client("pip install --target, two folders", "pip")
def start_two_targets(at: Place) -> str:
    """As layers of a serverless platform: the package in one, the runtime in the other."""
    for index, package in enumerate(at.packages):
        at.run(at.python, "-m", "pip", "install", "-q", "--target", f"layer{index}", "--no-deps", package)
    at.run(at.python, "-m", "pip", "install", "-q", "--target", "rest", at.packages[-1])
    paths = [str(path) for path in sorted(at.folder.iterdir())]
    return at.run(sys.executable, "-S", "-c", at.code, env=environment(PYTHONPATH=os.pathsep.join(paths)))


@client("pip install --prefix", "pip")
def start_prefix(at: Place) -> str:
    at.run(at.python, "-m", "pip", "install", "-q", "--ignore-installed", "--prefix", "prefix", *at.packages)
    (site,) = at.folder.glob("prefix/lib/python3*/site-packages")
    return at.run(sys.executable, "-S", "-c", at.code, env=environment(PYTHONPATH=str(site)))


@client("pip install --user", "pip")
def start_user(at: Place) -> str:
    home = environment(PYTHONUSERBASE=str(at.folder / "user"))
    python = Path(sys.executable).resolve()
    at.run(python, "-m", "pip", "install", "-q", "--user", "--ignore-installed", *at.packages, env=home)
    return at.run(python, "-c", at.code, env=home)


@client("site.addsitedir()")
def start_added(at: Place) -> str:
    site = at.run(at.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    return at.run(sys.executable, "-S", "-c", f"import site; site.addsitedir({site!r}); {at.code}")


@client("a .pth file")
def start_pth(at: Place) -> str:
    site = at.run(at.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    at.run(*UV, "venv", "-q", "-p", sys.executable, "env")
    (own,) = at.folder.glob("env/lib/python3*/site-packages")
    (own / "more.pth").write_text(f"{site}\n")
    return at.run(at.folder / "env/bin/python", "-c", at.code)


@client("an environment that was moved")
def start_moved(at: Place) -> str:
    at.make(at.folder / "env")
    shutil.move(at.folder / "env", at.folder / "moved")
    return at.run(at.folder / "moved/bin/python", "-c", at.code)


@client("an environment reached by a link")
def start_by_link(at: Place) -> str:
    at.make(at.folder / "env")
    (at.folder / "current").symlink_to("env")
    return at.run(at.folder / "current/bin/python", "-c", at.code)


@client("a folder with spaces and letters that aren't ASCII")
def start_named(at: Place) -> str:
    python = at.make(at.folder / "mit Leerzeichen, Größe 中文")
    return at.run(python, "-c", at.code, env=environment(LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0"))


@client("a long folder")
def start_deep(at: Place) -> str:
    folder = at.folder.joinpath(*["d" * 100] * 9)
    return at.run(at.make(folder), "-c", at.code)


@client("read-only files, another user")
def start_read_only(at: Place) -> str:
    require_mounts()
    at.make(at.folder / "env", python="/usr/bin/python3")
    at.run("chmod", "-R", "a-w,a+rX", at.folder)
    # The folders above may be closed to others.
    mount = "mount --make-rprivate / && mount -t tmpfs none /mnt && mkdir /mnt/env && mount --bind env /mnt/env"
    script = f'{mount} && exec "$@"'
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    return at.run("unshare", "-m", "sh", "-c", script, "sh", *nobody, "/mnt/env/bin/python", "-c", at.code)


@client("without /proc")
def start_without_proc(at: Place) -> str:
    return at.run(*without_proc(at.python, "-c", at.code))


@client("a temporary folder where nothing may be written")
def start_without_tmp(at: Place) -> str:
    return at.run(at.python, "-c", at.code, env=environment(TMPDIR="/nowhere", TEMP="/nowhere", TMP="/nowhere"))


@client("no variable in the environment")
def start_bare(at: Place) -> str:
    return at.run("env", "-i", at.python, "-c", at.code)


@client("setarch --addr-no-randomize, 256 file descriptors")
def start_limited(at: Place) -> str:
    return at.run("sh", "-c", 'ulimit -n 256; exec setarch "$(uname -m)" -R "$0" -c "$1"', at.python, at.code)


for minor in ("3.10", "3.12", "3.13"):

    @client(f"CPython {minor}", f"CPython {minor}")
    def start_cpython(at: Place, minor: str = minor) -> str:
        found = interpreters([minor])
        if not found:
            pytest.skip(f"not run: there is no CPython {minor} here")
        return at.run(at.make(at.folder / "env", python=found[0].path), "-c", at.code)


@client("fork after the package was used")
def start_forked_late(at: Place) -> str:
    text = "import os\nPROGRAM\npid = os.fork()\nif not pid:\n    PROGRAM\n    os._exit(0)\n"
    return at.run(at.python, at.write(text=f"{text}assert os.waitpid(pid, 0)[1] == 0\n"))


_POOL = "from concurrent.futures import {} as Pool"
_START = "p = {}.Process(target=work); p.start(); p.join()"
WORKERS = {
    "multiprocessing, fork": ("", "import multiprocessing as m", _START.format("m.get_context('fork')")),
    "multiprocessing, spawn": ("", "import multiprocessing as m", _START.format("m.get_context('spawn')")),
    "multiprocessing, forkserver": ("", "import multiprocessing as m", _START.format("m.get_context('forkserver')")),
    "concurrent.futures, threads": ("", _POOL.format("ThreadPoolExecutor"), "Pool(8).submit(work).result()"),
    "concurrent.futures, processes": ("", _POOL.format("ProcessPoolExecutor"), "Pool(2).submit(work).result()"),
    "asyncio.to_thread()": ("", "import asyncio", "asyncio.run(asyncio.to_thread(work))"),
    "joblib": ("joblib", "import joblib", "joblib.Parallel(2)([joblib.delayed(work)()] * 2)"),
    "dask, processes": ("dask", "import dask", "dask.compute(dask.delayed(work)(), scheduler='processes')"),
    "billiard (Celery's processes)": ("billiard", "import billiard", _START.format("billiard")),
    "mpire": ("mpire", "import mpire", "mpire.WorkerPool(2).apply(work)"),
    "gevent, everything patched": (
        "gevent", "from gevent import monkey; monkey.patch_all()\nimport gevent", "gevent.spawn(work).get()"),
    "trio.to_thread": ("trio", "import trio", "trio.run(trio.to_thread.run_sync, work)"),
}  # fmt: skip
"""The distribution, what is imported, and how the program, a function `work`, is run by threads or processes."""

for name, (version, imports, starts) in WORKERS.items():

    @client(name, version)
    def start_workers(at: Place, imports: str = imports, starts: str = starts) -> str:
        text = f"def work():\n    PROGRAM\n\nif __name__ == '__main__':\n    {starts}\n"
        return at.run(at.python, at.write(text=f"{imports}\n{text}"))


@client("unittest")
def start_unittest(at: Place) -> str:
    text = "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        PROGRAM\n"
    at.write("test_it.py", text)
    return at.run(at.python, "-m", "unittest", "-v", "test_it")


@client("pytest", "pytest")
def start_pytest(at: Place) -> str:
    at.write("test_it.py", "def test_it():\n    PROGRAM\n")
    return at.run(at.python, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_it.py")


@client("pytest-xdist, --import-mode=importlib", "pytest-xdist")
def start_xdist(at: Place) -> str:
    at.write("test_it.py", "def test_it():\n    PROGRAM\n")
    return at.run(at.python, "-m", "pytest", "-n", "2", "-rP", "--import-mode=importlib", "test_it.py")


@client("doctest")
def start_doctest(at: Place) -> str:
    at.write("it.txt", ">>> PROGRAM\nworks\n")
    return at.run(at.python, "-c", "import doctest; doctest.testfile('it.txt', raise_on_error=True); print('works')")


@client("behave", "behave")
def start_behave(at: Place) -> str:
    at.write("features/it.feature", "Feature: it\n  Scenario: it\n    Given it is used\n")
    step = "@given('it is used')\ndef step(context):\n    PROGRAM\n"
    at.write("features/steps/it.py", f"from behave import given\n{step}")
    return at.run(at.python, "-m", "behave", "--no-capture", "-q")


@client("coverage", "coverage")
def start_coverage(at: Place) -> str:
    return at.run(at.python, "-m", "coverage", "run", at.write())


@client("cProfile")
def start_profile(at: Place) -> str:
    return at.run(at.python, "-m", "cProfile", at.write())


@client("viztracer", "viztracer")
def start_viztracer(at: Place) -> str:
    return at.run(at.python, "-m", "viztracer", "--log_sparse", at.write())


@client("pyinstrument", "pyinstrument")
def start_pyinstrument(at: Place) -> str:
    return at.run(at.python, "-m", "pyinstrument", at.write())


@client("pdb")
def start_pdb(at: Place) -> str:
    return at.run(at.python, "-m", "pdb", "-c", "continue", "-c", "quit", at.write())


@client("debugpy", "debugpy")
def start_debugpy(at: Place) -> str:
    return at.run(at.python, "-m", "debugpy", "--listen", f"127.0.0.1:{free_port()}", at.write())


@client("IPython", "ipython")
def start_ipython(at: Place) -> str:
    where = environment(IPYTHONDIR=str(at.folder))
    return at.run(at.python, "-m", "IPython", "--colors=NoColor", "-c", at.code, env=where)


@client("a Jupyter notebook", "nbclient")
def start_notebook(at: Place) -> str:
    text = f"""import nbclient, nbformat.v4 as v
notebook = v.new_notebook(cells=[v.new_code_cell({at.code!r})])
nbclient.execute(notebook)
print(notebook.cells[0].outputs[0].text)
"""
    return at.run(at.python, at.write(text=text))


@client("Flask", "flask")
def start_flask(at: Place) -> str:
    text = "from flask import Flask\napp = Flask('it')\n@app.get('/')\ndef it():\n    PROGRAM\n    return 'works'\n"
    at.write(text=text)
    return serve(at, at.python, "-m", "flask", "--app", "app", "run", "--port")


WSGI = "def app(environ, start):\n    PROGRAM\n    start('200 OK', [])\n    return [b'works']\n"
ASGI = """async def app(scope, receive, send):
    if scope["type"] == "http":
        PROGRAM
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"works"})
"""


@client("gunicorn", "gunicorn")
def start_gunicorn(at: Place) -> str:
    at.write(text=WSGI)
    return serve(at, at.tool("gunicorn"), "app:app", "--workers=2", "--bind", prefix="127.0.0.1:")


@client("gunicorn --preload, used before the fork", "gunicorn")
def start_gunicorn_preload(at: Place) -> str:
    at.write(text=f"PROGRAM\n{WSGI}")
    return serve(at, at.tool("gunicorn"), "app:app", "--preload", "--threads=2", "--bind", prefix="127.0.0.1:")


@client("waitress", "waitress")
def start_waitress(at: Place) -> str:
    at.write(text=WSGI)
    return serve(at, at.tool("waitress-serve"), prefix="--listen=127.0.0.1:", after=("app:app",))


@client("uvicorn, two workers", "uvicorn")
def start_uvicorn(at: Place) -> str:
    at.write(text=ASGI)
    return serve(at, at.tool("uvicorn"), "app:app", "--workers=2", "--port")


@client("hypercorn", "hypercorn")
def start_hypercorn(at: Place) -> str:
    at.write(text=ASGI)
    return serve(at, at.tool("hypercorn"), "app:app", "--bind", prefix="127.0.0.1:")


@client("twist web", "twisted")
def start_twist(at: Place) -> str:
    at.write(text=WSGI)
    return serve(at, at.tool("twist"), "web", "--wsgi", "app.app", "--listen", prefix="tcp:", PYTHONPATH=".")


@client("a zipapp, packages installed", "")
def start_zipapp(at: Place) -> str:
    at.write("app/__main__.py")
    at.run(at.python, "-m", "zipapp", "app", "-o", "app.pyz")
    return at.run(at.python, "app.pyz")


@client("shiv", "shiv")
def start_shiv(at: Place) -> str:
    at.write("it/__init__.py", "def main():\n    PROGRAM\n")
    at.write("setup.py", "from setuptools import setup\nsetup(name='it', version='1', packages=['it'])\n")
    at.run(at.python, "-m", "shiv", "-q", "-e", "it:main", "--uncompressed", "-o", "app.pyz", ".", *at.packages)
    return at.run(sys.executable, "-S", "app.pyz", env=environment(SHIV_ROOT=str(at.folder / "root")))


@client("pex --layout loose, uncompressed", "pex")
def start_pex(at: Place) -> str:
    where = environment(PEX_ROOT=str(at.folder / "root"))
    at.run(at.python, "-m", "pex", *at.packages, "--layout", "loose", "--no-compress", "-o", "app.pex", env=where)
    return at.run(at.python, "-S", "app.pex/__main__.py", "-c", at.code, env=where)


for mode in ("--onedir", "--onefile"):

    @client(f"PyInstaller {mode}", "pyinstaller")
    def start_frozen(at: Place, mode: str = mode) -> str:
        at.run(at.python, "-m", "PyInstaller", "--noconfirm", "--log-level=ERROR", mode, at.write())
        return at.run(at.folder / ("dist/app/app" if mode == "--onedir" else "dist/app"))


@client("cx_Freeze", "cx_Freeze")
def start_cx_freeze(at: Place) -> str:
    at.run(at.python, "-m", "cx_Freeze", "build_exe", "--script", at.write(), "--build-exe", "out", "--silent")
    return at.run(at.folder / "out/app")


@client("Cython, an interpreter of one's own", "cython")
def start_cython(at: Place) -> str:
    at.write("it.pyx")
    at.run(at.tool("cython"), "--embed", "-3", "it.pyx")
    return embed(at, "it.c")


@client("a C program with libpython")
def start_embedded(at: Place) -> str:
    run = f"Py_Initialize(); int failed = PyRun_SimpleString({c_string(at.code)}); return Py_FinalizeEx() | failed;"
    at.write("it.c", f"#include <Python.h>\nint main(void) {{ {run} }}\n")
    return embed(at, "it.c")


@client("mypyc", "mypy")
def start_mypyc(at: Place) -> str:
    at.write("it.py", "def work() -> None:\n    PROGRAM\n")
    where = environment(PATH=f"{at.python.parent}:{os.environ['PATH']}")
    at.run(at.tool("mypyc"), "--ignore-missing-imports", "it.py", env=where)
    return at.run(at.python, "-c", "import it; assert it.__file__.endswith('.so'); it.work()")


@client("tox", "tox")
def start_tox(at: Place) -> str:
    needs = "".join(f"\n  {package}" for package in at.packages)
    at.write("tox.ini", f"[testenv]\nskip_install = true\ndeps ={needs}\ncommands = python app.py\n")
    at.write()
    return at.run(at.python, "-m", "tox", "-q", "-e", "py")


@client("nox", "nox")
def start_nox(at: Place) -> str:
    session = f"    s.install(*{at.packages!r})\n    s.run('python', 'app.py')\n"
    at.write("noxfile.py", f"import nox\n@nox.session\ndef it(s):\n{session}")
    at.write()
    return at.run(at.python, "-m", "nox", "-s", "it")


@client("pipx run", "pipx")
def start_pipx(at: Place) -> str:
    at.write("it.py", "def main():\n    PROGRAM\n")
    script = "entry_points={'console_scripts': ['it = it:main']}"
    at.write("setup.py", f"from setuptools import setup\nsetup(name='it', version='1', py_modules=['it'], {script})\n")
    where = environment(PIPX_HOME=str(at.folder / "home"), PIPX_BIN_DIR=str(at.folder / "bin"))
    at.run(at.python, "-m", "pipx", "install", "-q", at.folder, env=where)
    at.run(at.python, "-m", "pipx", "inject", "-q", "it", *at.packages, env=where)
    return at.run(at.folder / "bin/it", env=where)


@client("hatch run", "hatch")
def start_hatch(at: Place) -> str:
    at.write("hatch.toml", f"[envs.default]\nskip-install = true\ndependencies = {needs(at)}\n")
    at.write()
    where = environment(HATCH_DATA_DIR=str(at.folder / "data"), HATCH_CACHE_DIR=str(at.folder / "cache"))
    return at.run(at.python, "-m", "hatch", "run", "python", "app.py", env=where)


def needs(at: Place) -> str:
    """The requirements as a list of TOML."""
    return json.dumps([f"demo @ file://{package}" if "/" in package else package for package in at.packages])


def c_string(text: str) -> str:
    """A literal of C."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def embed(at: Place, source: str) -> str:
    """What a program printed that has an interpreter of its own."""
    asked = "s.get_path('include'), s.get_config_var('LIBDIR'), s.get_config_var('LDVERSION'), s.get_path('purelib')"
    facts = at.run(at.python, "-c", f"import sys, sysconfig as s; print({asked}, sys.base_prefix)")
    include, folder, version, site, home = facts.split()
    libraries = (f"-L{folder}", f"-Wl,-rpath,{folder}", f"-lpython{version}", "-ldl", "-lm", "-lutil", "-lpthread")
    at.run("cc", f"-I{include}", source, "-o", "it", *libraries, "-rdynamic")
    return at.run(at.folder / "it", env=environment(PYTHONHOME=home, PYTHONPATH=site))


def free_port() -> int:
    """A port of this machine that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(at: Place, *command: object, prefix: str = "", after: tuple[str, ...] = (), **variables: str) -> str:
    """What a server answers. Raises AssertionError with what it printed."""
    port = free_port()
    words = [*map(str, command), f"{prefix}{port}", *after]
    log = at.folder / "log"
    with log.open("wb") as out:
        started = {"cwd": at.folder, "env": environment(**variables), "stdout": out, "stderr": out}
        process = subprocess.Popen(words, **started, start_new_session=True)
        try:
            for _ in range(300):
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20) as answer:
                        return answer.read().decode()
                except OSError:
                    if process.poll() is not None:
                        break
                    time.sleep(0.1)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    raise AssertionError(log.read_text("utf-8", "replace").replace(WORKS, ""))
