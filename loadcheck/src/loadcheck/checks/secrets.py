"""Check LB611: whether a package has a secret."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.checks.hygiene import FOR_TESTS
from loadcheck.engine.registry import ARCHIVES, Hit, Skip, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents, File

_SECRET_NAMES = re.compile(
    r"(^|/)(\.env(\.[^/]*)?|id_(rsa|dsa|ecdsa|ed25519)|\.netrc|\.pypirc|\.git-credentials)$", re.IGNORECASE
)
_NPM_TOKEN = re.compile(rb"_(?:authToken|auth|password)[ \t]*=[ \t]*(?!\$\{)[^\s]")
"""In .npmrc; not the name of a variable."""
_KEY_STORE = re.compile(rb"\x07\x02\0\0\0\x24\0\0RSA2|\xfe\xed\xfe\xed.{8}\0\0\0\x01", re.DOTALL)
"""How the private key of a strong name begins (PRIVATEKEYBLOB), and a JKS file whose first entry is a private key."""
_PRIVATE_KEY = re.compile(rb"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----")
_SETTING = re.compile(rb"^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*[\"']?([^\s\"'#]+)", re.MULTILINE)
_SECRET_SETTING = re.compile(
    rb"key|token|secret|passw|pwd|credential|private|auth|dsn|://[^/@]*:[^/@]*@", re.IGNORECASE
)
"""In the name of a setting, or in a URL with a password."""
_HARMLESS = (".env.example", ".env.sample", ".env.template")


@check(
    "LB611",
    "Secret included",
    "error",
    profiles=("loads",),
    because="Anyone who has the package can use the secret. The finding is a warning for key stores, which a password "
    "may protect, and for a .env whose first settings do not look like secrets. It is a note for test data.",
    kinds=(*ARCHIVES, "folder"),
    example="latenn/.env",
    fix="Remove the file, revoke the secrets in it, and delete the published package.",
)
def secret(package: Contents) -> Iterator[Hit | Skip]:
    """Published packages are searched for keys within minutes. The report does not show the secret itself.

    Keys in folders with tests or examples are usually made for that purpose.
    """
    for file in package.files:
        if file.base.lower() in _HARMLESS or not file.size:
            continue
        is_test = FOR_TESTS.search(file.name) is not None
        if match := _PRIVATE_KEY.search(file.head):
            severity: Severity = "note" if is_test else "error"
            case, message, evidence = "key", "contains a private key", match[0].decode()
        elif file.base.lower() == ".npmrc" and (match := _NPM_TOKEN.search(file.head)):
            severity = "note" if is_test else "error"
            case, message, evidence = "token", "contains a token or a password for npm", file.name
        elif _SECRET_NAMES.search(file.name):
            severity = "note" if is_test else "error" if _names_secret(file) else "warning"
            case, message, evidence = "name", "has a name typical of files with secrets", file.name
        elif _KEY_STORE.match(file.head):
            severity = "note" if is_test else "warning"
            case, message, evidence = "key", "contains a private key", file.name
        else:
            continue
        yield Hit(cause=case, inner=file.name, message=message, evidence=(evidence,), severity=severity)


def _names_secret(file: File) -> bool:
    """Whether a file with a name for secrets has one: a .env may hold other settings alone."""
    if not file.base.lower().startswith(".env"):
        return _SECRET_NAMES.search(file.name) is not None
    return any(
        _SECRET_SETTING.search(name) or (b"://" in value and _SECRET_SETTING.search(value))
        for name, value in _SETTING.findall(file.head)
    )
