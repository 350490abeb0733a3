"""Writes every generated file, or with --check says which are out of step: pages, C headers, the schema.

    python -m ci.gen [--check]

Exit status: 0 all in step (or written), 1 out of step.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from latebind.adopt.new import provider_files
from latebind.audit.reports.pages import check_index
from latebind.config.reference import config_pages
from latebind.config.schema import config_schema_text
from latebind.system.archive import write_text

from ci import gen_loader, reference_cli
from ci.reference_scenarios import scenarios_page
from research import census, peers_page, sabotage_page

ROOT = Path(__file__).resolve().parent.parent


def outputs() -> dict[Path, str]:
    """Every generated file with its text."""
    return {
        ROOT / "packaging/latebind/config/latebind.schema.json": config_schema_text(),
        **{ROOT / "docs" / name: text for name, text in config_pages().items()},
        ROOT / "docs" / "scenarios.md": scenarios_page(),
        ROOT / "docs" / "reference" / "cli.md": reference_cli.page().rstrip() + "\n",
        ROOT / "docs" / "checks" / "index.md": check_index(),
        ROOT / "docs" / "census.md": census.page(),
        ROOT / "docs" / "compare.md": peers_page.page(),
        **{ROOT / "examples/ep-tiny" / path: text for path, text in _example().items()},
        **{ROOT / path: text for path, text in gen_loader.outputs().items()},
        **{ROOT / path: text for path, text in sabotage_page.outputs().items()},
    }


def _example() -> dict[str, str]:
    """The example of an execution provider: what `latebind new` makes, without the files of a repository."""
    files = provider_files("tiny", "Acme")
    return {path: text for path, text in files.items() if path != "README.md" and not path.startswith(".")}


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is out of step")
    arguments = parser.parse_args()
    stale = [path for path, text in outputs().items() if not path.is_file() or path.read_text("utf-8") != text]
    for path in stale:
        print(f"{'out of step' if arguments.check else 'written'}: {path.relative_to(ROOT)}")
        if not arguments.check:
            write_text(path, outputs()[path])
    return int(bool(stale) and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
