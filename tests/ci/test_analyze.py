"""The search of the loader's C files for faults reads each file, and sees a fault that is put into one."""

from __future__ import annotations

import shutil

import pytest

from ci import analyze
from tests.support.needs import require_programs

PLANTED = "\nint lb_planted(int count) {\n  int* none = 0;\n  return count ? *none : 0;\n}\n"
KNOWN_ELSEWHERE = {"images_macos.c", "search_macos.c"}
"""Their headers are Apple's: cppcheck alone reads them."""


def test_every_file_is_read_by_each_tool():
    files = {file.name for file in analyze.list_files()}
    assert files == {file.name for file in analyze.SOURCES.glob("*.c")} - {"loader.c"}
    for tool in analyze.TOOLS:
        left = {file.name for file in analyze.list_files() if not tool.command_for(file)}
        windows = {name for name in files if "windows" in name} if tool.on_windows is None else set()
        assert left == ((KNOWN_ELSEWHERE | windows) if tool.needs_headers else set())


SAMPLE = ["record.c", "trust_posix.c", "functions_stub.c", "trust_windows.c"]
OTHERS = [file.name for file in analyze.list_files() if file.name not in SAMPLE]


@pytest.mark.parametrize("name", [*SAMPLE, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
@pytest.mark.parametrize("tool", analyze.TOOLS, ids=lambda tool: tool.name)
def test_a_fault_that_is_put_into_a_file_is_seen(tmp_path, tool, name):
    require_programs(tool.command[0])
    file = tmp_path / name
    shutil.copy(analyze.SOURCES / name, file)
    if not tool.command_for(file):
        pytest.skip(f"not run: {tool.name} lacks the headers for {name}")
    analyze.write_table(tmp_path)
    file.write_text(file.read_text("utf-8") + PLANTED)
    assert name in tool.search(file, tmp_path)
