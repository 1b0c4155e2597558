"""The one owner of chance: everything that varies between cases derives from one seed."""

from __future__ import annotations

import hashlib
import secrets

DEFAULT_SEED = 20261008


def derive(seed: int, *parts: str, length: int = 12) -> str:
    """`length` hexadecimal digits that depend on the seed and the parts alone."""
    text = "\x1f".join((str(seed), *parts))
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def number(seed: int, *parts: str) -> int:
    """A 64-bit number for libraries that want a seed of their own."""
    return int(derive(seed, *parts, length=16), 16)


def nonce() -> str:
    """What sets this run's ids apart from every other run's on a living stack; left out of every digest."""
    return "n" + secrets.token_hex(5)


def token() -> str:
    """A bearer token: never derived from the seed, never written down."""
    return secrets.token_urlsafe(24)
