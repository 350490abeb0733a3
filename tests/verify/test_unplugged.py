"""Things are unplugged and consumers misbehave: test cases are *not run* or failed, or there is one clear error.

Never a traceback, never a false pass, nothing left running.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

import latebind as latebind_package
import loadcheck
from latebind.compilers.interpreters import everybody_reaches
from latebind.errors import NotRun
from latebind.pack.record import RECORD
from latebind.verify.run.access import is_root
from latebind.verify.run.installers import installer
from tests.conftest import ROOT, alive
from tests.support.client import CONFIG, edit, write_client, write_portable
from tests.support.running import CLI, assert_success, not_run, run_checked, run_program

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the client is built for Linux"),
]

VERIFY = '\n[verify]\npython = "verify/smoke.py"\n'
BEGIN = """\
import argparse, ctypes, json, os, sys
from pathlib import Path
import tiny
parser = argparse.ArgumentParser()
parser.add_argument("--cases")
parser.add_argument("--out", type=Path)
given = parser.parse_args()
library = ctypes.CDLL(str(next(Path(tiny.__file__).parent.glob("*.so"))))
passed = ["adds"] if library.tiny_add(2, 3) == 5 else []
"""
GOOD = 'given.out.write_text(json.dumps({"passed": passed}))\n'


@pytest.fixture(scope="session")
def pristine_dist(tmp_path_factory):
    """The small project's packages, made once."""
    folder = tmp_path_factory.mktemp("unplugged")
    write_client(folder / "tiny", latebind=CONFIG + VERIFY)
    run_checked(*CLI, "-C", folder / "tiny", "pack", timeout=300)
    return folder / "tiny" / "dist"


@pytest.fixture
def project(tmp_path, pristine_dist, latebind):
    """The project with a consumer, and `verify` on packages next to it."""
    root = write_client(tmp_path / "tiny", latebind=CONFIG + VERIFY)
    dist = shutil.copytree(pristine_dist, tmp_path / "dist", ignore=shutil.ignore_patterns(RECORD))  # made elsewhere
    (root / "verify").mkdir()
    (root / "verify" / "smoke.py").write_text(BEGIN + GOOD, encoding="utf-8")

    def verify(*arguments, script="", **more):
        if script:
            (root / "verify" / "smoke.py").write_text(BEGIN + script, encoding="utf-8")
        ended = latebind("-C", root, "verify", "--dist", dist, *arguments, **more)
        assert "Traceback" not in ended.stderr
        return ended

    def cases():
        return json.loads((root / "reports" / "verify.json").read_text("utf-8"))["cases"]

    return SimpleNamespace(root=root, dist=dist, verify=verify, cases=cases)


def of_wheel(cases):
    """Those of the wheel; the sdist has one more."""
    return [case for case in cases if case["kind"] == "wheel"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("sys.exit(0)", "ended with status 0 and wrote no result"),
        ("os.kill(os.getpid(), 11)", "ended by SIGSEGV (11) and wrote no result"),
        (
            "deep = lambda n: deep(n - 1) if n else import_nothing\ndeep(50)",
            "ended with status 1 and wrote no result: NameError: name 'import_nothing' is not defined",
        ),
        (GOOD + "os.kill(os.getpid(), 6)", "ended by SIGABRT (6) before its libraries could be listed"),
        (
            GOOD + "import atexit; atexit.register(ctypes.CDLL(None).abort)",
            "ended by SIGABRT (6) after it had written its result",
        ),
        ("given.out.mkdir()", "ended with status 0 and wrote no result"),
        ("given.out.write_bytes(b'{\"passed\": [\\xff')", "verify/smoke.py wrote invalid JSON"),
        ('given.out.write_text("[]")', "verify/smoke.py wrote an invalid result: Expected `object`"),
        ("given.out.write_text('{\"passed\": []}')", "0 cases passed"),
        (GOOD + "os._exit(0)", "ended with status 0 before its libraries could be listed"),
        (
            GOOD + '(given.out.parent / "seen.json").write_text("{"); os._exit(0)',
            "ended with status 0 before its libraries could be listed",
        ),
        (GOOD + "import shutil; shutil.rmtree(given.out.parent)", "wrote no result"),
        (GOOD + "import shutil; shutil.rmtree(sys.prefix); shutil.rmtree(given.out.parent)", "wrote no result"),
    ],
)
def test_a_consumer_that_shows_nothing_fails_its_case(project, script, message):
    ended = project.verify(script=script)
    [case] = of_wheel(project.cases())
    assert (ended.returncode, case["outcome"]) == (1, "failed")
    assert message in case["reason"]


@pytest.mark.slow
def test_a_consumer_that_prints_100_mb_passes_and_its_log_is_kept_in_part(project):
    ended = project.verify(script=GOOD + 'print("\\n".join(["x" * 1_000_000] * 100))')
    [case] = of_wheel(project.cases())
    assert (ended.returncode, case["outcome"]) == (0, "passed")
    assert (project.root / "reports" / case["log"]).stat().st_size <= 64 << 20


@pytest.mark.builds
def test_what_a_consumer_leaves_running_is_ended_with_its_case(project):
    daemon = f"""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        Path({str(project.root / "pid")!r}).write_text(str(os.getpid()))
        os.execvp("sleep", ["sleep", "300"])
    os._exit(0)
import time; time.sleep(1)
"""
    started = time.monotonic()
    assert project.verify(script=GOOD + daemon).returncode == 0
    assert time.monotonic() - started < 60
    assert not alive(int((project.root / "pid").read_text()))


HANGS = """
Path({pid!r}).write_text(str(os.getpid()))
import time; time.sleep(300)
"""


def begin_verify(project):
    """`verify` with a consumer that hangs, and the consumer's process."""
    pid = project.root / "pid"
    (project.root / "verify" / "smoke.py").write_text(BEGIN + HANGS.format(pid=str(pid)), encoding="utf-8")
    command = [*CLI, "-C", project.root, "verify", "--dist", project.dist]
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not (pid.is_file() and pid.read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    return process, int(pid.read_text())


@pytest.mark.builds
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "cancelled"])
def test_an_interrupted_verification_leaves_nothing_running_and_the_next_one_goes_on(project, number):
    process, consumer = begin_verify(project)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in errors, alive(consumer)) == (-number, False, False)
    assert "interrupted" in errors
    assert project.verify(script=GOOD).returncode == 0


@pytest.mark.builds
def test_what_a_killed_verification_left_running_has_ended_when_the_next_one_begins(project):
    process, consumer = begin_verify(project)
    process.kill()
    process.communicate(timeout=60)
    assert project.verify(script=GOOD).returncode == 0
    assert not alive(consumer)


@pytest.mark.builds
@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
                                    {"PYTHONIOENCODING": "cp1252"}], ids=["C", "cp1252"])  # fmt: skip
def test_results_are_utf_8_in_every_locale(project, locale, form):
    command = [*CLI, "-v", "-C", project.root, "verify", "--dist", project.dist]
    ended = subprocess.run([*map(str, command), "--format", form], env={**os.environ, **locale},
                           capture_output=True, timeout=300, check=False)  # fmt: skip
    assert (ended.returncode, b"Traceback" in ended.stderr) == (0, False)
    assert "✓" in ended.stdout.decode("utf-8")


UNSHARE = shutil.which("unshare")


def can_mount():
    """Whether a file system of our own can be had: as root, where mounts may be private."""
    command = [UNSHARE, "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return UNSHARE is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0


def verify_mounted(setup, project, *arguments, env=None):
    """`verify` in a mount space of its own, after a shell's `setup`."""
    command = [*CLI, "-q", "-C", project.root, *arguments, "verify", "--dist", project.dist]
    shell = [UNSHARE, "--mount", "sh", "-c", f'{setup} && exec "$@"', "sh", *map(str, command)]
    environment = {**os.environ, "NO_COLOR": "1", **(env or {})}
    return run_program(*shell, env=environment, timeout=300)


needs_mount = pytest.mark.skipif(not can_mount(), reason="not run: no mount space of one's own")


@needs_mount
@pytest.mark.parametrize("size", ["4k", "64k", "100k"])
def test_a_full_disk_is_one_clear_error(project, tmp_path, size):
    small = tmp_path / "small"
    small.mkdir()
    ended = verify_mounted(f"mount -t tmpfs -o size={size} none {small}", project, "--workdir", small)
    assert ended.returncode == 2, ended.stdout
    assert re.match(r"error: .*No space left on device", ended.stderr)
    assert "The disk is full" in ended.stderr


@needs_mount
def test_a_full_disk_under_the_installers_cache_is_one_clear_error(project, tmp_path):
    small = tmp_path / "cache"
    small.mkdir()
    ended = verify_mounted(f"mount -t tmpfs -o size=4k none {small}", project, env={"UV_CACHE_DIR": str(small)})
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "The disk is full" in ended.stderr


ANSWERS = {
    "error": (500, "text/html", b"no"),
    "forbidden": (403, "text/html", b"no"),
    "no-page": (200, "application/octet-stream", b"PK"),
}


@pytest.fixture
def index(request):
    """The address of a package index that answers everything in one wrong way."""
    status, kind, body = ANSWERS[request.param]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    server.server_close()


def assert_not_run(monkeypatch, tmp_path, url):
    """Without what earlier runs left in uv's cache."""
    for name in ("PIP_FIND_LINKS", "UV_FIND_LINKS", "UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    values = {"PIP_INDEX_URL": url, "UV_CACHE_DIR": tmp_path / "u", "UV_HTTP_RETRIES": 0, "UV_HTTP_TIMEOUT": 2}
    for name, value in values.items():
        monkeypatch.setenv(name, str(value))
    tool = installer(tmp_path / "home")
    tool.home.mkdir()
    with not_run("no-index"):
        tool.resolve("onnxruntime", Path(sys.executable))
    tool.create(tmp_path / "env", Path(sys.executable), tmp_path / "log")
    with not_run("no-index"):
        tool.install(tmp_path / "env", ["onnxruntime"], log=tmp_path / "log")


@pytest.mark.slow
@pytest.mark.parametrize("index", ANSWERS, indirect=True)
def test_an_index_that_answers_with_errors_is_no_index(monkeypatch, tmp_path, index):
    assert_not_run(monkeypatch, tmp_path, index)


def test_an_index_that_nobody_answers_for_is_no_index(monkeypatch, tmp_path):
    assert_not_run(monkeypatch, tmp_path, "http://127.0.0.1:9/simple")


@pytest.mark.slow
def test_an_index_that_hangs_is_no_index(monkeypatch, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert_not_run(monkeypatch, tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}/simple")


def test_without_the_index_uv_takes_what_it_has_cached(monkeypatch, tmp_path, capfd):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    online = installer(tmp_path / "home")
    version = online.resolve("iniconfig", Path(sys.executable))
    online.create(tmp_path / "first", Path(sys.executable), tmp_path / "log")
    online.install(tmp_path / "first", [f"iniconfig=={version}"], log=tmp_path / "log")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    tool = installer(tmp_path / "home")
    with not_run("no-index", r"https?://\S+/markupsafe/? gave no usable answer"):
        tool.resolve("markupsafe", Path(sys.executable))
    assert tool.resolve("iniconfig", Path(sys.executable)) == version
    said = capfd.readouterr().err
    warning = "/iniconfig/ gave no usable answer; using only what uv has cached"
    assert warning in said or not said  # uv 0.8 does not ask again for what it read a moment ago
    tool.create(tmp_path / "env", Path(sys.executable), tmp_path / "log")
    tool.install(tmp_path / "env", [f"iniconfig=={version}"], ours=["tiny"], log=tmp_path / "log")
    with pytest.raises(NotRun, match="uv's cache has no markupsafe" if said else "/markupsafe/ gave no usable answer"):
        tool.resolve("markupsafe", Path(sys.executable))


def machine_file(folder, command, version="3.11.9", python=sys.executable):
    """A machine of win-x64 that runs `command` and has our own Python, or another one."""
    folder.mkdir(exist_ok=True)
    fields = {"rid": "win-x64", "title": "a stand-in", "command": command, "python": str(python),
            "python_version": version, "platforms": ["win_amd64"]}  # fmt: skip
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    (folder / "win-x64.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "version", "message"),
    [
        (["/nowhere/wine"], "3.11.9", "program /nowhere/wine was not found"),
        (["/bin/sh", "-c", "echo wine: cannot find L; exit 1"], "3.11.9", "wine: cannot find L"),
        (["/bin/echo", "so"], "3.11.9", "but the machine's file states 3.11.9"),
        (["/usr/bin/env"], "3.1.4", "but the machine's file states 3.1.4"),
    ],
    ids=["gone", "broken", "no-python", "another-python"],
)
def test_a_machine_that_does_not_answer_makes_its_cells_not_run(project, tmp_path, command, version, message):
    edit(project.root / "latebind.toml", '["linux-x64"]', '["linux-x64", "win-x64"]')
    machines = machine_file(tmp_path / "machines", command, version)
    ended = project.verify("--machines", machines, "--target", "win-x64")
    [case] = project.cases()
    assert (ended.returncode, case["outcome"], case["reason"]) == (1, "not run", "no-machine")
    assert message in case["summary"]


@pytest.mark.slow
def test_a_wheel_that_does_not_admit_the_machines_python_makes_its_cells_not_run(latebind, tmp_path):
    """A stand-in for CPython 3.9 answers with its version. The wheel is a real one for Windows."""
    root = write_portable(tmp_path / "tiny", ["win-x64"])
    (root / "latebind.toml").write_text((root / "latebind.toml").read_text("utf-8") + VERIFY, encoding="utf-8")
    (root / "verify").mkdir()
    (root / "verify" / "smoke.py").write_text(BEGIN + GOOD, encoding="utf-8")
    assert_success(latebind("-C", root, "pack", "--target", "win-x64"))
    python = tmp_path / "bin" / "python.exe"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\necho 3.9.2\n", encoding="utf-8")
    python.chmod(0o755)
    machines = machine_file(tmp_path / "machines", ["/usr/bin/env"], "3.9.2", python)
    ended = latebind("-C", root, "verify", "--machines", machines, "--target", "win-x64")
    [case] = json.loads((root / "reports" / "verify.json").read_text("utf-8"))["cases"]
    assert (ended.returncode, case["outcome"], case["reason"]) == (1, "not run", "no-interpreter")
    assert case["summary"] == "the wheel has Requires-Python >=3.10, but the machine has CPython 3.9.2"


@pytest.mark.parametrize(
    ("script", "message"),
    [("exit 1", "reports no SDK version"), ("exit 0", "printed no version, but: nothing"), ("echo It was not",
     "printed no version, but: It was not")],
    ids=["fails", "says-nothing", "says-something-else"],
)  # fmt: skip
def test_a_dotnet_that_does_not_start_makes_its_cells_not_run(project, tmp_path, script, message):
    config = project.root / "latebind.toml"
    config.write_text(f'{config.read_text("utf-8")}dotnet = "app"\n', encoding="utf-8")
    (project.root / "app").mkdir()
    (project.root / "app" / "App.csproj").write_text("<Project />", encoding="utf-8")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "dotnet").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (tmp_path / "bin" / "dotnet").chmod(0o755)
    project.verify("-k", "dotnet", env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})
    assert {(case["outcome"], case["reason"]) for case in project.cases()} == {("not run", "no-dotnet")}
    assert all(message in case["summary"] for case in project.cases())


def test_packages_that_are_not_the_projects_are_one_clear_error(project):
    edit(project.root / "latebind.toml", "1.2.3", "1.2.4")
    ended = project.verify()
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "is not of version 1.2.4" in ended.stderr


@pytest.mark.builds
def test_a_share_that_got_no_cell_is_no_failure(project):
    statuses = [project.verify("--shard", f"{number}/3").returncode for number in (1, 2, 3)]  # of one test case
    assert statuses == [0, 0, 0]


@pytest.mark.parametrize("python", ["", "foo", "2.7", "3"])
def test_a_matrix_of_what_is_no_python_is_refused(project, latebind, python):
    ended = latebind("-C", project.root, "matrix", "--python", python)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"{python!r} is not a minor version of Python 3" in ended.stderr


@pytest.mark.builds
@needs_mount
def test_a_home_that_is_read_only_or_not_there_stops_nothing(project, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    mount = f"mount --bind {home} {home} && mount -o remount,ro,bind {home} && ! touch {home}/x"
    for folder in (home, home / "nowhere"):
        ended = verify_mounted(mount, project, env={"HOME": str(folder), "XDG_CACHE_HOME": ""})
        assert (ended.returncode, project.cases()[0]["outcome"]) == (0, "passed"), ended.stdout + ended.stderr
        shutil.rmtree(project.root / "build" / "verify" / "passed")
    assert list((project.root / "build" / "verify" / "home" / "cache").iterdir())


@needs_mount
def test_a_working_folder_or_reports_that_cannot_be_written_are_one_clear_error(project):
    for folder in (project.root, project.root / "reports"):
        folder.mkdir(exist_ok=True)
        ended = verify_mounted(f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder}", project)
        assert (ended.returncode, "Traceback" in ended.stderr) == (2, False)
        assert re.match(r"error: .*Read-only file system", ended.stderr)
        assert str(folder) in ended.stderr


SYSTEM_PYTHON = Path("/usr/bin/python3")


def is_like_ours():
    ended = (
        run_program(SYSTEM_PYTHON, "-c", "import sys; print(*sys.version_info[:2])")
        if SYSTEM_PYTHON.is_file()
        else None
    )
    return ended is not None and ended.stdout.split() == [str(part) for part in sys.version_info[:2]]


@pytest.mark.builds
@pytest.mark.skipif(not (is_root() and is_like_ours()), reason="not run: needs root and a system Python of our version")
def test_a_user_whom_the_system_does_not_know_can_verify(project):
    """As containers are started: no entry in /etc/passwd, no home, and folders of others that may not be read."""
    workdir = Path(tempfile.mkdtemp())  # below pytest's own only we may go
    for path in (workdir, locked := workdir / "locked"):
        path.mkdir(exist_ok=True)
        path.chmod(0o777)
    (locked / "versions").mkdir(mode=0o700)
    shutil.copytree(project.root, workdir / "tiny")
    shutil.copytree(project.dist, workdir / "dist")
    for package in (latebind_package, loadcheck):
        shutil.copytree(Path(package.__file__).parent, workdir / "packages" / package.__name__)
    for name in ("templates", "loader"):
        shutil.copytree(ROOT / name, workdir / name)
    paths = [workdir / "packages", *(path for path in sys.path if path.endswith("site-packages"))]
    environment = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PATH": os.environ["PATH"],
                   "PYENV_ROOT": str(locked)}  # fmt: skip
    command = [SYSTEM_PYTHON, "-m", "latebind.cli", "-q", "-C", workdir / "tiny", "--workdir", locked,
               "verify", "--dist", workdir / "dist"]  # fmt: skip
    ended = subprocess.run(command, user=54321, group=54321, extra_groups=[], env=environment, cwd=workdir,
                           capture_output=True, text=True, timeout=300, check=False)  # fmt: skip
    shutil.rmtree(workdir)
    assert ended.stderr == "", ended.stdout
    assert ended.returncode == 0, ended.stdout


@pytest.mark.skipif(not is_root(), reason="not run: only root becomes somebody else")
def test_a_folder_that_another_user_may_not_enter_holds_none_of_his_cases(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o700)
    assert not everybody_reaches(tmp_path / "closed" / "case")
    assert everybody_reaches(Path("/tmp"))  # noqa: S108  # a folder that every system opens to all
