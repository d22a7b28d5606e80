"""Keys of services: stored in the keyring or a private file, cleaned, and in no error text."""

import importlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from foundation.errors import Misuse, PalimpsestError
from foundation.keys import FILE, KEYRING, StoredKeys, checked_key, clean_key

KEY = "sk-Ab9_c.d-e~f/g+h="
LIBRARY = '''
class errors:
    class KeyringError(Exception):
        """Base class of the library's errors."""

    class PasswordDeleteError(KeyringError):
        pass


STORED = {}
REFUSES = False


def set_password(service, username, password):
    if REFUSES:
        raise errors.KeyringError("locked")
    STORED[service, username] = password


def get_password(service, username):
    if REFUSES:
        raise errors.KeyringError("locked")
    return STORED.get((service, username))


def delete_password(service, username):
    if (service, username) not in STORED:
        raise errors.PasswordDeleteError("not found")
    del STORED[service, username]
'''


@pytest.fixture
def keys(tmp_path: Path) -> StoredKeys:
    return StoredKeys({"PALIMPSEST_CONFIG_DIR": str(tmp_path / "config")})


@pytest.fixture
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """A library with the interface of `keyring`."""
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "keyring.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(folder)
    yield importlib.import_module("keyring")
    sys.modules.pop("keyring", None)


def test_without_a_keyring_a_key_is_in_a_file_of_the_user_alone(keys: StoredKeys, tmp_path: Path) -> None:
    assert keys.set("api.openai.com", f" “{KEY}”\r\n") == FILE
    assert keys.get("api.openai.com") == KEY
    assert keys.get("api.anthropic.com") == ""
    assert keys.places() == {"api.openai.com": FILE}
    file = tmp_path / "config" / "keys.json"
    if os.name != "nt":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert keys.remove("api.openai.com")
    assert not keys.remove("api.openai.com")
    assert KEY not in file.read_text()


def test_a_keyring_holds_the_key_and_the_file_only_its_name(
    keys: StoredKeys, keyring: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keys.set("api.openai.com", KEY) == KEYRING
    assert KEY not in (tmp_path / "config" / "keys.json").read_text()
    assert keys.get("api.openai.com") == KEY
    assert keys.remove("api.openai.com")
    assert keys.get("api.openai.com") == ""
    monkeypatch.setattr(keyring, "REFUSES", True)
    assert keys.set("api.openai.com", KEY) == FILE
    assert keys.get("api.openai.com") == KEY


@pytest.mark.parametrize(
    "bad", ["", "  \n", "sk-äbc", "sk-“abc", "sk-abc def", "sk-abc\x00", "sk-abc\nX-Other: 1", "sk-\x7f"]
)
def test_a_key_that_cannot_be_sent_is_refused_and_never_shown(keys: StoredKeys, bad: str) -> None:
    with pytest.raises(Misuse) as raised:
        keys.set("api.openai.com", bad)
    shown = "".join(raised.value.as_json().values()) + repr(raised.value)
    assert "sk-" not in shown
    assert keys.places() == {}


def test_a_damaged_file_is_named_and_its_text_is_not(keys: StoredKeys, tmp_path: Path) -> None:
    keys.set("api.openai.com", KEY)
    file = tmp_path / "config" / "keys.json"
    file.write_text(file.read_text()[:-3])
    with pytest.raises(PalimpsestError, match="is damaged") as raised:
        keys.get("api.openai.com")
    assert raised.value.__cause__ is None and raised.value.__suppress_context__
    assert "sk-" not in str(raised.value)


@pytest.mark.parametrize("around", ["{}", " {}\n", '"{}"', "'{}' ", "\t“{}”\r\n", "`{}`", "\ufeff{}"])
def test_white_space_and_quotation_marks_around_a_key_are_no_part_of_it(around: str) -> None:
    assert clean_key(around.format(KEY)) == checked_key(around.format(KEY)) == KEY
