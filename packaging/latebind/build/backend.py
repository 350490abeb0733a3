"""The build backend of an sdist (PEP 517): hatchling's, with a setting for the compiler and errors without traceback.

An sdist carries this module and all that it imports of latebind. In a project's tree, hatchling is the backend.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from hatchling import build as hatchling

from latebind.compilers.choose import TOOLCHAIN_VARIABLE, TOOLCHAINS
from latebind.errors import InputError, LatebindError

if TYPE_CHECKING:
    Settings = Mapping[str, Any] | None

_SETTING = "toolchain"


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """The compiler and the build programs that this machine lacks."""
    with _settings(config_settings):
        return hatchling.get_requires_for_build_wheel()


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """The same for an editable installation."""
    with _settings(config_settings):
        return hatchling.get_requires_for_build_editable()


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build the wheel; its file name."""
    with _settings(config_settings):
        return hatchling.build_wheel(wheel_directory, None, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel of an editable installation; its file name."""
    with _settings(config_settings):
        return hatchling.build_editable(wheel_directory, None, metadata_directory)


def __getattr__(name: str) -> Any:
    """hatchling's other hooks, which it has for some installers only."""
    return getattr(hatchling, name)


@contextmanager
def _settings(settings: Settings) -> Iterator[None]:
    """Pass the installer's settings on to the hook; print an error of latebind as a command would."""
    try:
        _apply(settings or {})
        yield
    except LatebindError as error:
        sys.stderr.write(f"error: {_keep_logs(str(error))}\n")
        raise SystemExit(error.exit_status) from None


def _keep_logs(text: str) -> str:
    """A message, with the logs that it names copied: the installer deletes the folder that they are in."""
    for log in Path("build").resolve().glob("*.log"):
        if str(log) in text:
            with NamedTemporaryFile(prefix=f"{log.stem}-", suffix=".log", delete=False) as kept:
                kept.write(log.read_bytes())
            text = text.replace(str(log), kept.name)
    return text


def _apply(settings: Mapping[str, Any]) -> None:
    """Raises InputError for anything but one known toolchain. A setting counts more than the variable."""
    unknown, value = sorted(settings.keys() - {_SETTING}), settings.get(_SETTING)
    if unknown or value not in (None, *TOOLCHAINS):
        wrong = f"unknown setting {', '.join(unknown)}" if unknown else f"{value!r} is not a toolchain"
        advice = f"Write {' or '.join(f'{_SETTING}={name}' for name in TOOLCHAINS)}."
        raise InputError(wrong, where="--config-settings", advice=advice)
    if value is not None:
        os.environ[TOOLCHAIN_VARIABLE] = value
