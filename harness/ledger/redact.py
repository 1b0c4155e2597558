"""Keeps secrets out of what is written: known secrets are masked, in plain and in the ledger's base64 at any alignment."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

MASK = "[secret]"


@lru_cache(maxsize=64)
def _forms(secret: str) -> tuple[str, ...]:
    return tuple(_made(secret))


def _made(secret: str) -> Iterator[str]:
    yield secret
    raw = secret.encode()
    for shift in range(3):
        # URL-safe base64 (what pydantic writes) of a text that contains the secret holds one of three fixed cores, by the
        # secret's offset modulo 3.
        coded = base64.urlsafe_b64encode(b"\0" * shift + raw).decode().rstrip("=")
        yield coded[(0, 2, 3)[shift] : len(coded) - (1 if (shift + len(raw)) % 3 else 0)]


@dataclass(frozen=True)
class Redactor:
    """Masks each of `secrets`; its repr shows none."""

    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Redactor({len(self.secrets)} secrets)"

    def clean(self, text: str) -> str:
        """`text` without any of the secrets. The mask in base64 has the length of what it hides, so lines stay decodable."""
        for secret in self.secrets:
            plain, *coded = _forms(secret)
            text = text.replace(plain, MASK)
            for form in coded:
                text = text.replace(form, "A" * len(form))
        return text
