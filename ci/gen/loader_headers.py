"""Write the loader's generated headers from its tables and the runtime presets; must not know how they are compiled.

    python -m ci.gen.loader_headers

Git does not track them: each session of nox makes them, and ci/build_hook.py for each build of latebind.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
from typing import Any

import jinja2
import msgspec

from ci.gen import ort_slots
from latebind.backend.files import write_text
from latebind.native.loadersource import runtime_header
from latebind.tables.presets import preset, presets

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = pathlib.Path("loader/include/latebind")
TABLE = pathlib.Path("loader/tables/ort_api.toml")


def render_ort_api() -> str:
    """Render `ort_api.h` from the table of functions."""
    table = ort_table()
    functions = [
        _function(function) for function in sorted(table["function"], key=lambda function: int(function["slot"]))
    ]
    _check_functions(functions, oldest=int(table["oldest"]))
    return _format(
        _template("ort_api.h.j2").render(
            version=table["version"],
            oldest=table["oldest"],
            opaque=table["opaque"],
            enums=table["enum"],
            callbacks=table["callback"],
            functions=functions,
            fields=_fields(functions),
        )
    )


def ort_table() -> dict[str, Any]:
    """The table of functions, with each one's slot and the version that has it first."""
    table = _load(TABLE)
    table["enum"] = [{"name": name, "values": values} for name, values in table["enum"].items()]
    for kind in ("opaque", "callback", "function"):
        table[kind] = [{"name": name, **entry} for name, entry in table[kind].items()]
    slots = {entry.name: (slot, entry.since) for slot, entry in enumerate(ort_slots.read_tables()["LB_ORT_API"])}
    for entry in table["function"]:
        if entry["name"] not in slots:
            raise SystemExit(f"{TABLE}: OrtApi has no function {entry['name']}")
        entry["slot"], entry["since"] = slots[entry["name"]]
    return table


def render_runtime(name: str) -> str:
    """Render `<name>.h`, the description of one runtime, from its preset."""
    runtime = preset(name)
    source = f"packaging/latebind/tables/runtimes/{name}.toml by ci/gen/loader_headers.py"
    return _format(runtime_header(runtime, runtime.floor, source))


def write_headers() -> list[pathlib.Path]:
    """Write the headers that are missing or out of step; their paths."""
    texts = {"ort_api": render_ort_api(), **{name: render_runtime(name) for name in presets()}}
    paths = {ROOT / INCLUDE / f"{name}.h": text for name, text in texts.items()}
    stale = [path for path, text in paths.items() if not path.is_file() or path.read_text("utf-8") != text]
    for path in stale:
        write_text(path, paths[path])
    return stale


def _load(path: pathlib.Path) -> dict[str, Any]:
    return msgspec.toml.decode((ROOT / path).read_bytes(), type=dict[str, Any])


def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - the output is C, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)


def _function(function: dict[str, Any]) -> dict[str, Any]:
    parameters = [str(parameter) for parameter in function["parameters"]]
    return {
        "slot": int(function["slot"]),
        "name": str(function["name"]),
        "since": int(function["since"]),
        "returns": str(function.get("returns", "OrtStatus*")),
        "otherwise": function.get("otherwise"),
        "parameters": parameters,
        "arguments": [_argument(parameter) for parameter in parameters],
    }


_PLAIN = ("OrtStatus*", "void")
"""What a call that an older runtime lacks can return without a value of its own: the error, or nothing."""


def _argument(parameter: str) -> str:
    """Give the name out of a parameter: `value` of `OrtValue** value`, `names` of `const char* names[]`."""
    return parameter.removesuffix("[]").replace("*", " ").split()[-1]


def _check_functions(functions: list[dict[str, Any]], *, oldest: int) -> None:
    for function in functions:
        if function["since"] > oldest and function["returns"] not in _PLAIN and not function["otherwise"]:
            raise SystemExit(f"{TABLE}: {function['name']} is newer than 1.{oldest} and needs `otherwise`")


def _fields(functions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lay the functions out as struct fields, with a gap for every run of unused slots."""
    fields: list[dict[str, Any]] = []
    position = 0
    for function in functions:
        gap = function["slot"] - position
        if gap:
            fields.append({"slot": position, "gap": gap})
        fields.append({**function, "gap": 0})
        position = function["slot"] + 1
    return fields


def _format(text: str) -> str:
    """Lay the text out as clang-format would, so that generated and written headers obey one rule."""
    folder = str(pathlib.Path(sys.executable).parent)
    program = shutil.which("clang-format", path=folder) or shutil.which("clang-format")
    if program is None:
        raise SystemExit("clang-format is missing: pip install clang-format")
    style = f"--style=file:{ROOT / '.clang-format'}"
    done = subprocess.run(
        [program, style, "--assume-filename=header.h"], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"clang-format failed: {done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    for _path in write_headers():
        print(f"written: {_path.relative_to(ROOT)}")
