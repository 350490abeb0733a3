"""`python -m latenn`: doctor shows which runtime is found; run runs a model on .npy files."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

import latenn
from latenn import _backends


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 all well, 1 no usable runtime or a failed run, 2 usage."""
    parser = argparse.ArgumentParser(prog="python -m latenn", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    doctor = commands.add_parser("doctor", help="show which runtime is found, where, and what else was tried")
    doctor.add_argument("--backend", help="a backend's name or the path of its library")
    doctor.add_argument("--json", action="store_true", help="the whole report as JSON")
    run = commands.add_parser("run", help="run a model once and print its outputs")
    run.add_argument("model", type=Path)
    run.add_argument("--input", action="append", default=[], metavar="NAME=@FILE.npy", help="one for each input")
    run.add_argument("--backend", help="a backend's name or the path of its library")
    arguments = parser.parse_args(argv)
    try:
        return _doctor(arguments) if arguments.command == "doctor" else _run(arguments, parser)
    except latenn.LatennError as error:
        print(f"latenn: {error}", file=sys.stderr)
        return 1


def _doctor(arguments: argparse.Namespace) -> int:
    chosen = arguments.backend or os.environ.get("LATENN_BACKEND")
    names = (chosen,) if chosen else _backends.places(None, None).names or (None,)
    reports = [latenn.runtime_report(backend=name) for name in names]
    if arguments.json:
        print(json.dumps(reports[0] if len(reports) == 1 else reports, indent=2))
    else:
        print(f"latenn {latenn.__version__}")
        for report in reports:
            _tell(report)
    return 0 if any(report.get("bound") for report in reports) else 1


def _tell(report: dict[str, Any]) -> None:
    for attempt in report.get("attempts", []):
        words = [attempt["source"], attempt["outcome"], attempt["path"], attempt["version"], attempt["detail"]]
        print("  " + "  ".join(word for word in words if word))
    print(report.get("sentence", ""))


def _run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    inputs = {}
    for text in arguments.input:
        name, _, file = text.partition("=@")
        if not file:
            parser.error(f"--input {text!r} is not NAME=@FILE.npy")
        try:
            inputs[name] = np.load(file, allow_pickle=False)
        except (OSError, ValueError) as error:
            parser.error(f"--input {text!r}: {error}")
    with latenn.load(arguments.model, backend=arguments.backend) as model:
        for name, value in model.run(inputs).items():
            print(f"{name} {value.dtype}{list(value.shape)}\n{value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
