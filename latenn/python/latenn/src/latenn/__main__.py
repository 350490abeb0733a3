"""`python -m latenn`: doctor shows which runtime is found; run, bench and wrap (into an ONNX graph) take a model."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import latenn
from latenn import _backends, _native


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
    run.add_argument("--output", action="append", default=[], metavar="NAME=@FILE.npy", help="keep an output in a file")
    run.add_argument("--backend", help="a backend's name or the path of its library")
    bench = commands.add_parser("bench", help="time runs of a model, with numbers of 1 for open dimensions")
    bench.add_argument("model", type=Path)
    bench.add_argument("--threads", type=int, default=1, help="so many threads at once")
    bench.add_argument("--seconds", type=float, default=2.0, help="for how long")
    bench.add_argument("--backend", help="a backend's name or the path of its library")
    bench.add_argument("--json", action="store_true", help="the result as JSON")
    _add_wrap(commands)
    arguments = parser.parse_args(argv)
    handlers = {"doctor": _doctor, "run": _run, "bench": _bench, "wrap": _wrap}
    try:
        return handlers[arguments.command](arguments, parser)
    except latenn.LatennError as error:
        print(f"latenn: {error}", file=sys.stderr)
        return 1


def _add_wrap(commands: Any) -> None:
    wrap = commands.add_parser("wrap", help="make a model one node of an ONNX graph, for latenn-customop")
    wrap.add_argument("model", type=Path)
    wrap.add_argument("-o", "--output", type=Path, required=True, help="the ONNX file to write")
    wrap.add_argument("--backend", help="the backend that runs it; by default the model's encoding decides")
    wrap.add_argument("--device", help="the backend's device")
    wrap.add_argument("--name", default="model", help="the node's name, by which a session gives it options")
    group = wrap.add_mutually_exclusive_group()
    group.add_argument("--embed", action="store_true", default=True, help="the graph holds the model (the default)")
    group.add_argument(
        "--external", action="store_false", dest="embed", help="the graph holds the model's path from there"
    )


def _doctor(arguments: argparse.Namespace, _: argparse.ArgumentParser) -> int:
    chosen = arguments.backend or _native.variable("LATENN_BACKEND")
    names = (chosen,) if chosen else _backends.places(None, None).names or (None,)
    reports = [latenn.runtime_report(backend=name) for name in names]
    if arguments.json:
        print(json.dumps(reports[0] if len(reports) == 1 else reports, indent=2))
    else:
        print(f"latenn {latenn.__version__}")
        for report in reports:
            _tell(report)
        print(f"accelerator: {reports[0]['accelerator']}")
    return 0 if any(report.get("bound") for report in reports) else 1


def _tell(report: dict[str, Any]) -> None:
    for attempt in report.get("attempts", []):
        fields = [attempt["source"], attempt["outcome"], attempt["path"], attempt["version"], attempt["detail"]]
        print("  " + "  ".join(field for field in fields if field))
    print(report.get("message", ""))


def _run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    inputs = {}
    for text in arguments.input:
        name, file = _named_file("--input", text, parser)
        try:
            inputs[name] = np.load(file, allow_pickle=False)
        except (OSError, ValueError) as error:
            parser.error(f"--input {text!r}: {error}")
    files = dict(_named_file("--output", text, parser) for text in arguments.output)
    with latenn.load(arguments.model, backend=arguments.backend) as model:
        names = [port.name for port in model.outputs]
        if unknown := [name for name in files if name not in names]:
            parser.error(f"--output {unknown[0]!r}: the model gives {', '.join(names)}")
        results = model.run(inputs)
    for name, value in results.items():
        print(f"{name} {value.dtype}{list(value.shape)}\n{value}")
    for name, file in files.items():
        try:
            np.save(file, results[name], allow_pickle=False)
        except (OSError, ValueError) as error:
            print(f"latenn: {name} cannot be kept in {file}: {error}", file=sys.stderr)
            return 1
    return 0


def _named_file(option: str, text: str, parser: argparse.ArgumentParser) -> tuple[str, str]:
    name, _, file = text.partition("=@")
    if not file:
        parser.error(f"{option} {text!r} is not NAME=@FILE.npy")
    return name, file


def _bench(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from latenn import _timing  # noqa: PLC0415  # only here

    if arguments.threads < 1 or arguments.seconds <= 0:
        parser.error("--threads and --seconds take numbers above 0")
    with latenn.load(arguments.model, backend=arguments.backend) as model:
        result = _timing.measure(model, arguments.threads, arguments.seconds)
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        print("  ".join(f"{key} {value}" for key, value in result.items()))
    return 0


def _wrap(arguments: argparse.Namespace, _: argparse.ArgumentParser) -> int:
    try:
        import latenn_customop  # noqa: PLC0415  # a package of its own
    except ImportError:
        print('latenn: wrap needs latenn-customop: pip install "latenn-customop[wrap]"', file=sys.stderr)
        return 1
    graph = latenn_customop.wrap(
        arguments.model,
        backend=arguments.backend,
        device=arguments.device,
        name=arguments.name,
        embed=arguments.embed,
        directory=arguments.output.parent,
    )
    try:
        arguments.output.write_bytes(graph.SerializeToString())
    except OSError as error:
        print(f"latenn: {arguments.output} cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
