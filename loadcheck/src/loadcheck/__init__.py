"""Will it load? Checks packages of native code without running them.

This module, `loadcheck.api` and `loadcheck.facts` are what other distributions may import: what they export is kept
within a minor version, and CHANGELOG.md of the repository says what changes. All else may be renamed at any time.
"""

from loadcheck.errors import InputError, UserError
from loadcheck.model import AuditReport, FailOn, Finding, Kind, Profile, Rid, Severity, Sha256, System
from loadcheck.options import declare_audit
from loadcheck.terminal import fit_terminal, shows_colors

__version__ = "0.1.0"
__all__ = [
    "AuditReport", "FailOn", "Finding", "InputError", "Kind", "Profile", "Rid", "Severity", "Sha256", "System",
    "UserError", "declare_audit", "fit_terminal", "shows_colors",
]  # fmt: skip
