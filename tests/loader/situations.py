"""What the loader answers: situations that every system has, as tables; each test module tries them on its own."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENVIRONMENT = "ONNXRUNTIME_LIB_PATH"

EXPLICIT = {
    "good": ("bound", "ONNX Runtime 1.25.3 is bound from"),
    "newer": ("bound", "ONNX Runtime 1.999.0 is bound from"),
    "old": ("too-old", "ONNX Runtime 1.10.0 at {path} is too old; version 1.19 or newer is needed"),
    "other_major": ("other-major", "at {path} is of another major version; version 1.19 or newer is needed, below 2"),
    "odd_version": ("no-version", 'its version reads "unversioned"'),
    "no_version": ("no-version", "{path} does not tell its version"),
    "no_table": ("incomplete", "ONNX Runtime 1.25.3 at {path} is incomplete: GetApi(25) returns NULL"),
    "gap": ("incomplete", "{path} is incomplete: its function table has no CreateStatus"),
    "no_entry": ("no-entry", "{path} has no symbol OrtGetApiBase: it is another library, or too old"),
    "needs_gone": ("missing-dependency", "a library that it needs is missing or broken: "),
}
"""Of each stand-in: what comes of it when its file is named, and in which words."""


@dataclass(frozen=True)
class Situation:
    """Arguments of the probe, and its answer.

    In arguments and sentences `old@a` is a folder a with that stand-in, `old@a/` its file, `old@a/x` its file called x,
    and `@a` the folder a, which nobody makes. `comes` has source and outcome of the last attempts.
    """

    arguments: str
    comes: str
    says: tuple[str, ...] = ()
    named: str | None = None
    """The value of the environment variable."""
    answer: dict[str, Any] = field(default_factory=dict)
    """Of the answer or its report."""


SITUATIONS = {
    "a wrong path is final": Situation(
        "--path @gone --dir good@host", "explicit not-found", ("Correct the path or leave it out",)
    ),
    "a wrong environment variable is final": Situation(
        "--dir good@host",
        "environment not-found",
        (
            f"was not found at @gone, which {ENVIRONMENT} names",
            f"Correct the environment variable {ENVIRONMENT} or unset",
        ),
        named="@gone",
    ),
    "a library that lacks another is not the path's fault": Situation(
        "--path needs_gone@host/", "explicit missing-dependency", ("Install what it needs, or correct the path or",)
    ),
    "the host's path wins over the variable": Situation("--path good@host/", "explicit bound", named="@gone"),
    "an empty variable is none": Situation("--dir good@host", "host bound", named=""),
    "the first good one of the host's folders wins": Situation(
        "--dir old@a --dir @b --dir good@c", "host too-old, host not-found, host bound", answer={"version": "1.25.3"}
    ),
    "unsuitable ones of every kind do not defeat a good one": Situation(
        " ".join(
            f"--dir {name}@{name}" for name in [*EXPLICIT, "good"] if EXPLICIT[name][0] != "bound" or name == "good"
        ),
        "host bound",
    ),
    "what is nearly right is in the sentence": Situation(
        "--dir no_entry@a --dir @b --dir old@c --no-system",
        "host no-entry, host not-found, host too-old, beside not-found",
        ("ONNX Runtime 1.10.0", 'Get it with: pip install "onnxruntime>=1.19"'),
        answer={"outcome": "too-old"},
    ),
    "nothing anywhere": Situation(
        "--dir @a --advice this --no-system",
        "host not-found, beside not-found",
        ("was not found in @a", "version 1.19 or newer is needed. Get it with: this", ENVIRONMENT),
    ),
    "a renamed copy that is loaded is found": Situation(
        "--preload good@a/something-else.bin", "loaded bound", ("@a/something-else.bin",), answer={"images": 1}
    ),
    "an old copy that is loaded does not defeat a good one": Situation(
        "--preload old@theirs/ --dir good@ours",
        "loaded too-old, host bound",
        ("2 copies of ONNX Runtime are loaded in this process",),
        answer={"images": 2},
    ),
    "loaded images can be left out": Situation(
        "--preload good@a/ --no-loaded --no-system", "", answer={"outcome": "not-found"}
    ),
    "the table is asked for at the runtime's own version": Situation(
        "--path good@a/", "explicit bound", answer={"asked_for": 25, "warning": ""}
    ),
    "a newer runtime is bound without a warning": Situation(
        "--path newer@a/", "explicit bound", ("newer than 1.", "the newest version tried"), answer={"warning": ""}
    ),
    "the host may raise the floor": Situation(
        "--path good@a/ --minimum 1.26", "explicit too-old", ("version 1.26 or newer is needed",)
    ),
    "the host may not lower the floor": Situation("--path old@a/ --minimum 1.2", "explicit too-old"),
    "many threads bind the same": Situation("--threads 16 --path slow@a/", "", answer={"extra": 0, "bound": True}),
    "a second call says what the first bound": Situation(
        "--twice --path good@a/", "explicit bound", answer={"version_calls": 1}
    ),
    "a later call whose minimum is met": Situation(
        "--path good@a/ --second-minimum 1.25.3", "explicit bound", answer={"bound": True, "version_calls": 1}
    ),
    "a later call with a higher minimum is refused": Situation(
        "--path good@a/ --second-minimum 1.26 --advice this",
        "loaded bound-older",
        ("is in use in this process already; version 1.26", "Get it with: this"),
        answer={"entry": True, "bound": False, "version": "1.25.3", "minimum": "1.26"},
    ),
    "a host that raises the floor gets the command for it": Situation(
        "--dir old@a --minimum 1.40 --no-system",
        "host too-old, beside not-found",
        ('version 1.40 or newer is needed. Get it with: pip install "onnxruntime>=1.40"',),
    ),
    "a flag that no loader knows yet": Situation(
        "--path good@a/ --flags 4294901760", "", answer={"outcome": "invalid-argument", "entry": False}
    ),
    "options of a newer caller, who sets what this loader lacks": Situation(
        "--path good@a/ --options-tail 170", "", answer={"outcome": "invalid-argument", "entry": False}
    ),
    "options of a newer caller, who sets nothing of it": Situation("--path good@a/ --options-tail 0", "explicit bound"),
    "options without their size, and the path in them": Situation(
        "--path good@a/ --options-size 0", "", answer={"outcome": "invalid-argument", "entry": False}
    ),
    "options of another size": Situation(
        "--path good@a/ --options-size 16", "", answer={"outcome": "invalid-argument", "entry": False}
    ),
    "a mistake in a later call": Situation(
        "--path good@a/ --second-options-size 0", "", answer={"outcome": "invalid-argument", "entry": True}
    ),
    "a runtime that calls back gets an answer and no dead lock": Situation(
        "--path calls_back@a/",
        "explicit bound",
        answer={"again_message": "lb_bind() was called by the runtime that it is opening."},
    ),
}


def outcomes(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Where a probe looked, and what came of it."""
    return [(attempt["source"], attempt["outcome"]) for attempt in answer["report"].get("attempts", ())]


def place(programs: Any, stand_in: str, folder: Path, name: str = "") -> Path:
    """A copy of a stand-in in a folder, which is made; under the usual name, or another."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(programs.stand_in(stand_in), folder / (name or programs.runtime_name)))


def check_explicit(programs: Any, stand_in: str, gone: str = "libgone.so") -> None:
    """Hold the answer for a stand-in whose file is named against the table; `gone` says what needs_gone lacks."""
    path = programs.stand_in(stand_in)
    outcome, says = EXPLICIT[stand_in]
    answer = programs.probe("--path", path)
    sentence = answer["report"]["message"]
    assert answer["outcome"] == outcome
    assert outcomes(answer) == [("explicit", outcome)]
    assert says.format(path=programs.name_of(path)) in sentence
    assert gone in sentence or stand_in != "needs_gone"
    assert ("orrect the path or leave it out" in sentence) == (outcome != "bound")


def check_situation(programs: Any, name: str, folder: Path) -> None:
    """Make a situation in a folder, and hold the answer against the table."""
    situation = SITUATIONS[name]
    arguments = [_resolve_argument(programs, argument, folder) for argument in situation.arguments.split()]
    named = None if situation.named is None else _resolve_argument(programs, situation.named, folder)
    environment = {} if named is None else {ENVIRONMENT: programs.name_of(named) if named else ""}
    answer = programs.probe(*arguments, environment=environment)
    report = answer["report"]
    came = ", ".join(" ".join(outcome) for outcome in outcomes(answer))
    assert f", {came}".endswith(f", {situation.comes}" if situation.comes else ""), came
    for text in situation.says:
        expected = re.sub(r"@([\w./-]+)", lambda match: programs.name_of(folder / match[1]), text)
        assert expected in f"{report['message']}\n{report['warning']}"
    combined = {**report, **answer}
    assert {key: combined[key] for key in situation.answer} == situation.answer


def _resolve_argument(programs: Any, argument: str, folder: Path) -> str | Path:
    stand_in, is_place, rest = argument.partition("@")
    if not is_place:
        return argument
    name, has_file, file = rest.partition("/")
    if not stand_in:
        return folder / rest
    library = place(programs, stand_in, folder / name, file)
    return library if has_file else library.parent
