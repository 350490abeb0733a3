"""The build backend of an sdist (PEP 517): hatchling's, with a setting for the compiler and errors without traceback.

In a project's tree, hatchling is the backend.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hatchling import build as hatchling

from latebind.backend.errors import InputError, LatebindError
from latebind.backend.notes import NOTES
from latebind.backend.toolchain import TOOLCHAIN_VARIABLE, TOOLCHAINS

if TYPE_CHECKING:
    Settings = Mapping[str, Any] | None

_SETTING = "toolchain"


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """The compiler and the build programs that this machine lacks."""
    with _settings(config_settings):
        return hatchling.get_requires_for_build_wheel()


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """The compiler and the build programs that this machine lacks for an editable installation."""
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
    """Pass the installer's settings on to the hook; print notes and an error of latebind as a command would."""
    if not NOTES.handlers:  # in an sdist
        NOTES.addHandler(logging.StreamHandler())
        NOTES.setLevel(logging.INFO)
    try:
        _apply(settings or {})
        yield
    except LatebindError as error:
        sys.stderr.write(f"error: {error}\n")
        raise SystemExit(error.exit_status) from None


def _apply(settings: Mapping[str, Any]) -> None:
    """Raises InputError for anything but one known toolchain. A setting counts more than the variable."""
    unknown, value = sorted(settings.keys() - {_SETTING}), settings.get(_SETTING)
    if unknown or value not in (None, *TOOLCHAINS):
        wrong = f"unknown setting {', '.join(unknown)}" if unknown else f"{value!r} is not a toolchain"
        advice = f"Write {' or '.join(f'{_SETTING}={name}' for name in TOOLCHAINS)}."
        raise InputError(wrong, where="--config-settings", advice=advice)
    if value is not None:
        os.environ[TOOLCHAIN_VARIABLE] = value
