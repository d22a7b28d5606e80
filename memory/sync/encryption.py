"""Encryption of segments with age keys, by the library pyrage.

The secret key (`AGE-SECRET-KEY-1…`) is in the keyring, or in the private file of keys where there is none. A key file
holds one, as `age-keygen` writes it. All devices of a workspace hold the same one, or each its own, named to the others
as a recipient (`age1…`).

Anybody who knows a public key can encrypt for it. So a segment bears a proof, too: an HMAC under a key that is derived
from the secret one. Devices with the same secret key know by it that one of them wrote the segment.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from foundation.errors import Misuse
from foundation.files import read_bytes, status, write_atomically
from foundation.install_hints import install_extra
from foundation.keys import StoredKeys
from foundation.paths import config_dir
from foundation.privacy import bytes_as_made
from memory.sync.errors import NoKey
from models.errors import MissingLibrary

_SERVICE = "sync"
_MOST = 65_536  # bytes of a key file
_SECRET = "AGE-SECRET-KEY-1"
_PURPOSE = b"palimpsest sync: who wrote a segment, 1"
PROOF = 32
"""Bytes of a proof."""


class Keys:
    """This device's secret key, and the public keys of all that may read."""

    def __init__(self, secret: str, recipients: Sequence[str]) -> None:
        """Raises Misuse for what is no key, MissingLibrary."""
        self._age = _pyrage()
        try:
            self._identity = self._age.x25519.Identity.from_str(secret)
            self._recipients = [self._age.x25519.Recipient.from_str(recipient) for recipient in recipients]
        except Exception as error:  # its errors have no common class
            raise Misuse("Not a key", f"A key cannot be used: {error}.", "Keys are those of age: `age1…`.") from error
        own = self._identity.to_public()
        if str(own) not in set(recipients):
            self._recipients.append(own)
        self.knows_others = bool(set(recipients) - {str(own)})
        """Whether devices with other secret keys may write: this one cannot check their proofs."""
        self._proof_key = hmac.digest(str(self._identity).encode("ascii"), _PURPOSE, hashlib.sha256)

    @property
    def recipient(self) -> str:
        """The public key of this device."""
        return str(self._identity.to_public())

    def encrypt(self, body: bytes) -> bytes:
        return bytes(self._age.encrypt(body, self._recipients))

    def proof(self, encrypted: bytes) -> bytes:
        """Shows whoever has the same secret key that one who has it wrote this."""
        return hmac.digest(self._proof_key, encrypted, hashlib.sha256)

    def decrypt(self, body: bytes, name: str) -> bytes:
        """Raises NoKey, also where the bytes were changed: age tells no more."""
        try:
            return bytes(self._age.decrypt(body, [self._identity]))
        except Exception as error:
            raise NoKey(
                "It cannot be decrypted",
                f"{name} is encrypted for a different key, or damaged.",
                "Copy the key file of a device that can read it, then `sync add LOCATION --key FILE`.",
            ) from error


def stored_secret(environment: Mapping[str, str]) -> str:
    """This user's secret key; "" for none. It is in no workspace, and so in no backup of one. Raises Misuse."""
    before = config_dir(environment) / "sync.key"  # where 0.3.2 and earlier kept it
    return StoredKeys(environment).get(_SERVICE) or (read_secret(before) if status(before) is not None else "")


def store_secret(environment: Mapping[str, str], secret: str) -> str:
    """Stores the secret key; gives `keyring` or `file`."""
    return StoredKeys(environment).set(_SERVICE, secret)


def open_keys(recipients: Sequence[str], environment: Mapping[str, str]) -> Keys | None:
    """This user's key, and the public keys of a configuration; None where nothing is encrypted and there is no key.

    Raises Misuse where the configuration wants encryption and there is no key.
    """
    secret = stored_secret(environment)
    if not secret and recipients:
        raise Misuse("No key", "This device has no key for sync.", "`sync add LOCATION --key FILE`.")
    return Keys(secret, recipients) if secret else None


def refuse_unusable(recipients: Sequence[str]) -> None:
    """Raises Misuse where one of them is no public key, MissingLibrary."""
    if recipients:
        Keys(new_secret(), recipients)


def new_secret() -> str:
    """A new secret key. Raises MissingLibrary."""
    return str(_pyrage().x25519.Identity.generate())


def read_secret(path: Path) -> str:
    """The secret key in a file. Raises Misuse."""
    try:
        lines = read_bytes(path, most=_MOST, owned=True).decode("ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse("No key", f"The key file {path} cannot be read.", "`sync add LOCATION --key FILE`.") from error
    found = next((line.strip() for line in lines if line.strip().startswith(_SECRET)), None)
    if found is None:
        raise Misuse("No key", f"{path} contains no age secret key.", f"It begins with {_SECRET}.")
    return found


def write_secret(path: Path, secret: str) -> None:
    """Writes a key file that only its owner can read."""
    write_atomically(path, bytes_as_made(f"{secret}\n".encode("ascii")))


def _pyrage() -> Any:
    if find_spec("pyrage") is None:
        raise MissingLibrary(
            "pyrage is not installed",
            "Encryption needs the library pyrage; `--no-encrypt` does without.",
            install_extra("encrypt"),
        )
    return import_module("pyrage")
