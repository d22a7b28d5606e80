"""Versions that are written anew, less forgotten lines: all others come back byte for byte."""

import random
from pathlib import Path

from memory.versions.cause import BY_HAND
from memory.versions.manifest import Version
from memory.versions.store import VersionStore
from tests.fakes import FakeClock
from tests.memory.forget.bytes_of import places_of


def test_only_what_holds_the_words_changes(tmp_path: Path, clock: FakeClock) -> None:
    store, dice = VersionStore(tmp_path / "versions", clock), random.Random(3)
    lines = [f"line {number} of a note, {dice.random()}\n".encode() for number in range(40)]
    held: dict[int, bytes] = {}
    for number in range(30):
        lines[dice.randrange(len(lines))] = f"another {dice.random()}\n".encode()
        body = b"".join([*lines, *([f"zqcanary {number}\n".encode()] if number % 3 == 0 else [])])
        version = store.record("MEMORY.md", body, BY_HAND)
        assert version is not None
        held[version.number] = body
    assert places_of(tmp_path, ["zqcanary"])

    def without(_: Version, body: bytes) -> bytes | None:
        kept = b"".join(line for line in body.splitlines(keepends=True) if b"zqcanary" not in line)
        return kept if kept != body else None

    changed = store.rewrite(without, lambda reason: reason)

    assert changed == sum(b"zqcanary" in body for body in held.values())
    for version in store.versions():
        body = held[version.number]
        assert store.body(version) == (without(version, body) or body)
        assert ("forgotten" in version.reason) == (b"zqcanary" in body)
    assert store.check() == []
    assert places_of(tmp_path, ["zqcanary"]) == {}
    assert store.rewrite(without, lambda reason: reason) == 0
