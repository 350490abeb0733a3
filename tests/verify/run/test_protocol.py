"""How a consumer's end and its result are read."""

import sys
from pathlib import Path

import pytest

from latebind.errors import NotRun
from latebind.verify.run.machine import Machine, host_machine
from latebind.verify.run.protocol import run_consumer, with_output
from latebind.verify.run.trial import PhaseError
from tests.support.running import not_run

CRASHES, DOCUMENTED = "import os; os.abort()", "/docs/consumers.md describes what a consumer writes."


@pytest.mark.parametrize(
    ("code", "advice", "shown"),
    [(CRASHES, "Set ulimit.", "Set ulimit."), (CRASHES, "", DOCUMENTED), ("", "Set ulimit.", DOCUMENTED)],
)
def test_the_advice_for_a_consumer_that_the_system_ends_is_for_no_other(tmp_path, code, advice, shown):
    with pytest.raises(PhaseError, match="and wrote no result") as caught:
        run_consumer(
            [sys.executable, "-c", code],
            name="smoke.py", result=tmp_path / "result.json", cwd=tmp_path, env={}, log=None, advice=advice,
        )  # fmt: skip
    assert caught.value.advice.endswith(shown)
    assert caught.value.phase == "load"


@pytest.mark.parametrize(
    ("machine", "error"),
    [(Machine(rid="linux-x64", title="an emulator", command=("env",)), NotRun), (host_machine(Path()), PhaseError)],
)
def test_status_125_says_that_an_emulator_cannot_run_a_program(tmp_path, machine, error):
    with pytest.raises(error, match="no such function") as caught:
        run_consumer(
            [sys.executable, "-c", "print('no such function'); exit(125)"],
            name="main.c", result=tmp_path / "result.json", cwd=tmp_path, env={}, log=None, machine=machine,
        )  # fmt: skip
    assert getattr(caught.value, "reason", "not-emulated") == "not-emulated"


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ('{"title": "ONNX Runtime", "message": "it is too old"}\n', "main.c: it is too old"),
        ('hello\n{"message": "it is too old"}', "main.c: it is too old\n    hello\n    it is too old"),
        ('{"title": "ONNX Runtime"}', 'main.c: {"title": "ONNX Runtime"}'),
        ("{ no JSON", "main.c: { no JSON"),
        ("", "main.c"),
    ],
)
def test_a_printed_report_is_shown_by_its_message(output, shown):
    assert with_output("main.c", output) == shown


@pytest.mark.parametrize("key", ["no_device", "no_host"])
def test_a_consumer_in_any_language_may_find_no_device_or_host(tmp_path, key):
    result = tmp_path / "result.json"
    text = f'{{"{key}": "no SQLite here", "libraries": ["a.so"]}}'
    options = {"name": "smoke.mjs", "result": result, "cwd": tmp_path, "env": {}, "log": None}
    write = f"open({str(result)!r}, 'w').write({text!r})"
    with not_run(key.replace("_", "-"), "no SQLite here"):
        run_consumer([sys.executable, "-c", write], **options)
    assert run_consumer([sys.executable, "-c", f"{write}; exit(1)"], **options).status == 1
