"""The id of a NuGet package, which several tables have."""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Meta

NUGET_ID = re.compile(r"^[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*$")
MAX_NUGET_ID = 100
"""The longest id that feeds take (NuGet.Packaging, PackageIdValidator)."""
NugetId = Annotated[str, Meta(pattern=NUGET_ID.pattern, max_length=MAX_NUGET_ID)]
