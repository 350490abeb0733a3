"""Prepares the folder that CMake builds in: keeps of an earlier build what is still right."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latebind.system.log import LOG


def prepare_tree(tree: Path, arguments: Sequence[str], identity: str, rid: str) -> None:
    """Keep of an earlier tree what is still right: all for the same settings, what was compiled for other ones.

    CMake's cache would keep removed definitions, so it goes; Ninja then compiles what has another command. Another
    `identity` (compiler, target or source folder) empties the tree.
    """
    stamp = json.dumps({"identity": identity, "arguments": list(arguments)}, indent=1)
    mark = tree / ".latebind"
    if mark.is_file() and mark.read_bytes() == stamp.encode():
        return
    earlier = _read_mark(mark)
    if earlier.get("identity") == identity:
        changed = sorted(set(arguments) ^ set(map(str, earlier.get("arguments", ()))))
        names = dict.fromkeys(argument.partition("=")[0].removeprefix("-D") for argument in changed)
        LOG.say(f"{rid}: settings changed ({', '.join(names)}): building what depends on them")
        (tree / "CMakeCache.txt").unlink(missing_ok=True)
    elif tree.exists():
        LOG.say(f"{rid}: the compiler, its target, Python or the path of a folder changed: building everything again")
        shutil.rmtree(tree)
    tree.mkdir(parents=True, exist_ok=True)
    mark.write_text(stamp, encoding="utf-8")


def remove_links(written: Sequence[Path]) -> None:
    """Remove links where the linker will write files: zig's, for macOS, would write to what an old link names.

    A library without a version replaces the link that CMake made when it had one.
    """
    for path in written:
        if path.is_symlink():
            path.unlink()


def _read_mark(mark: Path) -> dict[str, Any]:
    """What a tree was configured with; nothing where that cannot be read."""
    try:
        content = json.loads(mark.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
