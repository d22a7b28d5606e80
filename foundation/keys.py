"""Keys of services: in the system's keyring, else in a private file of the user's configuration folder.

The file `keys.json` names each service; the key itself is in it only if no keyring takes it. No workspace has one.
"""

import importlib.util
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import msgspec

from foundation.errors import Misuse, PalimpsestError
from foundation.files import make_folder, make_private_file, read_text, resolve_path, write_atomically
from foundation.paths import APP, config_dir

KEYRING: Final = "keyring"
FILE: Final = "file"
_AROUND: Final = frozenset({('"', '"'), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’")})


def clean_key(text: str) -> str:
    """The key without the line end, blanks and quotation marks that files and clipboards put around it."""
    key = text.strip().lstrip("\ufeff").strip()
    return key[1:-1].strip() if len(key) > 1 and (key[0], key[-1]) in _AROUND else key


def checked_key(text: str) -> str:
    """The key, cleaned. Raises Misuse, which never shows it, for one that cannot be sent."""
    key = clean_key(text)
    if not key or not all("!" <= character <= "~" for character in key):
        hint = "Copy it again: letters, digits and signs on one line."
        raise Misuse("Not a key", "The key is empty or contains characters that cannot be sent.", hint)
    return key


class StoredKeys:
    """The keys of a user, by service (`api.openai.com`). Everything blocks."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._path = resolve_path(config_dir(environment) / "keys.json")

    def places(self) -> dict[str, str]:
        """KEYRING or FILE by service."""
        return {service: FILE if key else KEYRING for service, key in sorted(self._read().items())}

    def get(self, service: str) -> str:
        """The key of a service; "" for none."""
        key = self._read().get(service)
        return (key or _keyring("get_password", service) or "") if key is not None else ""

    def set(self, service: str, text: str) -> str:
        """Stores the key of a service; gives KEYRING or FILE. Raises Misuse for one that cannot be sent."""
        key = checked_key(text)
        _keyring("set_password", service, key)
        place = KEYRING if _keyring("get_password", service) == key else FILE  # some keyrings store nothing
        self._write(self._read() | {service: "" if place == KEYRING else key})
        return place

    def remove(self, service: str) -> bool:
        """Deletes the key of a service; False if there is none."""
        keys = self._read()
        if service not in keys:
            return False
        _keyring("delete_password", service)
        self._write({name: key for name, key in keys.items() if name != service})
        return True

    def _read(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(read_text(self._path), type=dict[str, str])
        except FileNotFoundError:
            return {}
        except msgspec.DecodeError:  # its text may hold a key
            hint = "Delete it, then store the keys again."
            raise PalimpsestError("Keys", f"{self._path} is damaged.", hint) from None

    def _write(self, keys: dict[str, str]) -> None:
        make_folder(self._path.parent)
        make_private_file(self._path)
        write_atomically(self._path, msgspec.json.encode(keys))


def _keyring(function: str, *arguments: str) -> str | None:
    """Calls a function of the keyring library; None if it is not installed or the keyring refuses."""
    if importlib.util.find_spec("keyring") is None:
        return None
    keyring = importlib.import_module("keyring")
    with suppress(keyring.errors.KeyringError):
        return getattr(keyring, function)(APP, *arguments)
    return None
