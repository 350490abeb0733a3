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
_KEY_STORES = re.compile(r"\.(pfx|p12|snk|keystore|jks)$", re.IGNORECASE)
"""These often hold no secret: certificates, public strong names."""
_NPM_TOKEN = re.compile(rb"_(?:authToken|auth|password)[ \t]*=[ \t]*(?!\$\{)[^\s]")
"""In .npmrc; not the name of a variable."""
_STRONG_NAME = (b"\x07\x02\0\0\0\x24\0\0RSA2", b"\0\x24\0\0\x04\x80\0\0")
"""How .snk files begin: a private key (PRIVATEKEYBLOB), and a public key of a strong name."""
_JAVA = (b"\xfe\xed\xfe\xed", 12, b"\0\0\0\1", b"\0\0\0\2")
"""A JKS file: how it begins, and where the type of its first entry is, which is a private key or a certificate."""
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
    "may protect, and for a .env whose first settings do not look like secrets. It is a note for test data, and for "
    "key stores whose first bytes do not say what they have.",
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
        elif _KEY_STORES.search(file.name) and (is_key := _has_key(file.head)) is not False:
            severity = "warning" if is_key and not is_test else "note"
            case = "key" if is_key else "store"
            message = "contains a private key" if is_key else "is of a kind that may contain a private key"
            evidence = file.name
        else:
            continue
        yield Hit(cause=case, inner=file.name, message=message, evidence=(evidence,), severity=severity)


def _has_key(head: bytes) -> bool | None:
    """Whether a key store has a private key, by its first bytes; None where these do not tell."""
    magic, start, key, certificate = _JAVA
    if head.startswith(magic):
        return {key: True, certificate: False}.get(head[start : start + 4])
    private, public = _STRONG_NAME
    return True if head.startswith(private) else False if head.startswith(public) else None


def _names_secret(file: File) -> bool:
    """Whether a file with a name for secrets has one: a .env may hold other settings alone."""
    if not file.base.lower().startswith(".env"):
        return _SECRET_NAMES.search(file.name) is not None
    return any(
        _SECRET_SETTING.search(name) or (b"://" in value and _SECRET_SETTING.search(value))
        for name, value in _SETTING.findall(file.head)
    )
