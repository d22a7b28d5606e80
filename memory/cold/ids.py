"""Ids that a person can read aloud: `e_4kx7m2p0q9ab`."""

import secrets

from foundation.privacy import Cleared, as_made

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, in lower case
LENGTH = 12


def new_id(prefix: str) -> Cleared:
    """`prefix`, `_` and 12 characters of base 32: 60 random bits."""
    bits = secrets.randbits(5 * LENGTH)
    return as_made(f"{prefix}_" + "".join(ALPHABET[bits >> shift & 31] for shift in range(0, 5 * LENGTH, 5)))
