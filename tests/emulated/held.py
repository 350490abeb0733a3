"""Runs on another system: whether a grandchild that writes ends at the limit, and when its holder is killed."""

import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.argv[1])
sys.path.insert(0, sys.argv[2])
from latebind.errors import ToolError
from latebind.system.run import run

WRITER = "import sys, time\nfor _ in range(600):\n    open(sys.argv[1], 'a').write('x')\n    time.sleep(0.1)\n"
STARTER = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', *sys.argv[1:]]); time.sleep(60)"


def words(file):
    return [sys.executable, "-c", STARTER, WRITER, str(file)]


def grows(file):
    before = file.stat().st_size if file.exists() else 0
    time.sleep(2)
    return file.exists() and file.stat().st_size > before


def limit(file):
    try:
        run(words(file), timeout=10)
    except ToolError as error:
        sys.stdout.write(str(error).partition("\n")[0].partition(" ran past ")[2].strip() + "\n")


def kill(file):
    code = f"import sys; sys.path[:0] = {sys.argv[1:3]!r}; from latebind.system.processes import watched_over\n"
    code += f"from latebind.system.run import run\nwith watched_over(): run({words(file)!r})"
    holder = subprocess.Popen([sys.executable, "-c", code])
    while not grows(file):
        assert holder.poll() is None
    holder.kill()
    holder.wait()
    end = time.monotonic() + 20  # an emulated watcher is slow; the writer would go on for a minute
    while grows(file) and time.monotonic() < end:
        pass


for way in (limit, kill):
    written = Path(sys.argv[3]) / way.__name__
    way(written)
    sys.stdout.write(f"{way.__name__} {written.stat().st_size > 0} {grows(written)}\n")
