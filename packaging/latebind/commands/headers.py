"""The command `headers`."""

from __future__ import annotations

import argparse
from pathlib import Path

from latebind.commands.common import Add, add_format, new_folder, print_json
from latebind.errors import LatebindError


def declare_headers(add: Add) -> None:
    """`latebind headers`."""
    command = add("headers", _headers, "get the official headers of a runtime")
    command.add_argument("runtime", metavar="RUNTIME", help="onnxruntime, openvino or torch; litert only with --from")
    command.add_argument(
        "version",
        nargs="?",
        default="",
        metavar="VERSION",
        help="such as 1.21 or 1.21.0 (default: the oldest supported, or that of --from)",
    )
    command.add_argument("--output", type=new_folder, required=True, metavar="DIR", help="folder for the headers")
    command.add_argument(
        "--from",
        type=Path,
        dest="given",
        metavar="PATH",
        help="take the headers from this folder, NuGet package, wheel or source archive",
    )
    add_format(command)


def _headers(arguments: argparse.Namespace) -> int:
    from latebind.config.described import RUNTIME_VERSION, libraries
    from latebind.headers import get_headers, write_headers
    from latebind.tables.presets import preset
    from latebind.text import plural

    runtime = libraries().get(arguments.runtime) or preset(arguments.runtime)
    oldest = runtime.floor or runtime.built
    version = arguments.version or ("" if arguments.given else oldest)
    if version and not RUNTIME_VERSION.match(version):
        raise LatebindError(f"{version!r} is not a version", advice=f"Write it as {oldest} or {oldest}.2.")
    headers = get_headers(runtime, version, arguments.given)
    write_headers(headers, runtime.name, arguments.output.resolve())
    if arguments.format == "json":
        files = sorted(headers.files)
        print_json({"runtime": runtime.name, "version": headers.version, "source": headers.source, "files": files})
    else:
        count = plural(len(headers.files), "header")
        print(f"{runtime.title} {headers.version}: {count} in {arguments.output}, from {headers.source}")
    return 0
