"""How installers reach the package index: the caller's settings for it, and nothing else of the caller's."""

from __future__ import annotations

import os
from pathlib import Path

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "requests_ca_bundle", "curl_ca_bundle")
_SAME = (("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), ("PIP_FIND_LINKS", "UV_FIND_LINKS"))


def installer_environment(home: Path) -> dict[str, str]:
    """The environment of an installer whose settings and scratch files lie below `home`.

    pip's own settings for the index are given to uv under uv's names, so that one setting serves both. Downloads are
    cached where the caller's uv and pip cache theirs, or below `home` where nothing can be written there.
    """
    kept = {
        key: value
        for key, value in os.environ.items()
        if key.startswith(("UV_", "PIP_", "SSL_")) or key.lower() in _PROXIES
    }
    kept |= {uv: kept[pip] for pip, uv in _SAME if pip in kept and uv not in kept}
    cache = Path(os.environ.get("XDG_CACHE_HOME") or callers_home() / ".cache")
    cache = cache if _writable(cache) else home / "cache"
    kept.setdefault("UV_CACHE_DIR", str(cache / "uv"))
    kept.setdefault("PIP_CACHE_DIR", str(cache / "pip"))
    system = {key: os.environ[key] for key in ("SYSTEMROOT", "TEMP", "TMP", "TMPDIR") if key in os.environ}
    fixed = {"HOME": str(home), "UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never", "PIP_NO_INPUT": "1"}
    return {**kept, **system, **fixed, "PATH": os.environ.get("PATH", "")}


def callers_home() -> Path:
    """The home of whoever runs latebind; a folder that is not there for a user whom the system does not know."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull) / "home"


def _writable(folder: Path) -> bool:
    """Whether files can be made in a folder, or the folder in the first one above it that is there."""
    there = next((path for path in (folder, *folder.parents) if os.access(path, os.F_OK)), folder)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)
