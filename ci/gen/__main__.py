"""Writes every generated file that git tracks, or with --check says which are out of step; and the loader's headers.

    python -m ci.gen [--check | --releases]

The headers are not tracked, so that --check writes them, too. What only the site needs, ci/gen/docs_site.py makes.
Exit status: 0 all in step (or written), 1 out of step.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ci.gen import actions, hidden, loader_headers, ort_slots, places
from ci.gen.reference_checks import check_index
from ci.gen.reference_config import config_pages, config_schema_text
from latebind.adopt.new import provider_files
from latebind.adopt.runtime_module import FILE_NAME, render_runtime_module
from latebind.backend.files import write_text
from latebind.config.file import load

ROOT = Path(__file__).resolve().parents[2]
OWN_RUNTIME = ROOT / "examples/own-runtime"


def outputs() -> dict[Path, str]:
    """Every generated file that git tracks, with its text: what is read in the repository, or at its address there."""
    return {
        ROOT / "docs" / "latebind.schema.json": config_schema_text(),
        **{ROOT / "docs" / name: text for name, text in config_pages().items()},
        ROOT / "docs" / "checks" / "index.md": check_index(),
        actions.TABLE: actions.table(),
        ROOT / "docs" / "search-order.md": places.page(),
        ROOT / "loader" / "src" / "places.h": places.header(),
        places.PUBLIC: places.public_header(),
        ROOT / "loader" / "src" / "hidden.h": hidden.header(),
        **{ROOT / "examples/ep-tiny" / path: text for path, text in _example().items()},
        OWN_RUNTIME / "python/zsolve/src/zsolve" / FILE_NAME: _own_runtime_module(),
    }


def _example() -> dict[str, str]:
    """The example of an execution provider: what `latebind new` makes, without the files of a repository."""
    files = provider_files("tiny", "Acme")
    own = ("CHANGELOG.md", "CONTRIBUTING.md")
    return {path: text for path, text in files.items() if path not in own and not path.startswith(".")}


def _own_runtime_module() -> str:
    """What `latebind loader-source --python` writes for the example of a described runtime."""
    [runtime] = load(OWN_RUNTIME / "latebind.toml").document.runtime
    return render_runtime_module(runtime.traits)


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write no tracked file; fail when one is out of step")
    parser.add_argument("--releases", action="store_true", help="first read the newest release of ONNX Runtime")
    arguments = parser.parse_args()
    if arguments.releases:
        ort_slots.write_slots()
    if not arguments.check:
        write_text(actions.TABLE, actions.table())  # the workflows that follow are rendered with it
    stale = [path for path, text in outputs().items() if not path.is_file() or path.read_text("utf-8") != text]
    for path in loader_headers.write_headers():
        print(f"written: {path.relative_to(ROOT)}")
    for path in stale:
        print(f"{'out of step' if arguments.check else 'written'}: {path.relative_to(ROOT)}")
        if not arguments.check:
            write_text(path, outputs()[path])
    return int(bool(stale) and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
