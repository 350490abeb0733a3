"""A parser that refuses an option given twice when only its last value would count."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


class Once(argparse._StoreAction):  # noqa: SLF001  # argparse keeps its actions to itself
    """Stores one value, as argparse does by default. Options that take several have other actions."""

    _given: Any = None

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Called by argparse for each time that the option is given. Raises ArgumentError for the second."""
        if option_string is not None and self._given is not None:
            text = f"given twice, as {str(self._given)!r} and {str(values)!r}: leave one of them out"
            raise argparse.ArgumentError(self, text)
        self._given = values
        super().__call__(parser, namespace, values, option_string)


class Parser(argparse.ArgumentParser):
    """argparse's own, but for Once; its commands are of this class, too."""

    def __init__(self, **settings: Any) -> None:
        """As argparse.ArgumentParser."""
        super().__init__(**settings)
        self.register("action", None, Once)
        self.register("action", "store", Once)
