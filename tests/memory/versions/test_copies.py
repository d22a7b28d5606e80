"""A damaged version is stored anew from a copy of before a write."""

import random
from pathlib import Path

from memory.versions.cause import BY_HAND
from memory.versions.objects import content_name
from memory.versions.store import VersionStore
from tests.fakes import FakeClock


def test_a_damaged_version_is_taken_from_a_copy_that_has_its_bytes(tmp_path: Path, clock: FakeClock) -> None:
    folder = tmp_path / "versions"
    store = VersionStore(folder, clock)
    first = random.Random(1).randbytes(2000).hex().encode()
    bodies = [first + b"\nline" * number for number in range(3)]
    versions = [store.record("MEMORY.md", body, BY_HAND) for body in bodies]
    assert all(versions)
    second = content_name(bodies[1])
    copies = folder / "MEMORY.md"
    copies.mkdir()
    (copies / f"20261127T185656.614Z-{second[:12]}.md").write_bytes(b"another text under that name")
    (copies / f"20261127T185657.614Z-{second[:12]}.md").write_bytes(bodies[1])
    (folder / "objects" / second[:2] / second).write_bytes(b"")
    assert len(store.check()) == 2, "the third is stored as what differs from the second"

    def gone(name: str) -> bytes:
        raise FileNotFoundError(name)

    kept: list[Path] = []
    assert store.mend(gone, kept.append) == ["Version 2 of MEMORY.md: restored from a copy of it."]
    assert kept == [folder / "objects" / second[:2] / second]
    assert store.check() == []
    assert [store.body(version) for version in store.versions()] == bodies
