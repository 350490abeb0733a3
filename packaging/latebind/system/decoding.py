"""What decoding JSON or TOML of any origin raises."""

from __future__ import annotations

import msgspec

DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Another form or syntax, another encoding, and values that are nested thousands of levels deep."""
