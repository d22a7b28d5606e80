"""Packs elsewhere: the same vault over a real S3Storage server and a real SSH server, on loopback."""

import gc
import hashlib
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from foundation.clock import SystemClock
from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.trust import Trust
from memory.archive.packs.pack_cache import CachedStorage, PackDigest
from memory.archive.packs.storage import LocalStorage
from memory.archive.rows import pages
from memory.errors import Damaged, StorageUnreachable
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.settings import ArchiveSettings
from models.errors import MissingLibrary
from models.messages import Role
from tests.memory.archive.pack_servers import SshServer, s3_server, ssh_server

TEXT = "".join(f"{n}: the ferry leaves at {n % 24}:{n % 60:02}, 渡轮 {n * 7919 % 9973}\n" for n in range(400))

# The libraries that speak to these servers take seconds to load on a busy machine.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with s3_server(monkeypatch) as client:
        yield client


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshServer]:
    with ssh_server(tmp_path / "home", monkeypatch) as server:
        yield server


def opened(workspace: Workspace, address: str, **settings: Any) -> Memory:
    return Memory.open(workspace, SystemClock(), ArchiveSettings(storage=address, **settings))


def round_trip(workspace: Workspace, address: str) -> None:
    """Archived, read with an empty cache, at rest, read again, deleted: all of it there."""
    memory = opened(workspace, address)
    archived = memory.vault.archive_text(as_given(TEXT), label="ferry")
    assert not workspace.packs.exists()
    assert {row.pack for row in archived.pages} <= set(memory.vault.storage.names())
    memory.vault.repacking.run(min_age=timedelta(0), least=1)
    memory.close()
    for path in workspace.pack_cache.iterdir():
        path.unlink()
    memory = opened(workspace, address)
    read = [memory.vault.read_page(row.id) for row in archived.pages]
    assert "".join(page.text for page in read) == TEXT
    assert {page.trust for page in read} == {Trust.EXACT}
    assert [path.name for path in workspace.pack_cache.glob("*.pages")] == [memory.vault.pages()[0].pack]
    assert memory.vault.check() == []
    (archive,) = memory.vault.archives()
    memory.vault.release(memory.cold.delete_conversation(archive.conversation or 0))
    assert [name for name in memory.vault.storage.names() if name.endswith(".pages")] == []
    memory.close()
    gc.collect()  # what was left open would be told here


def test_packs_live_on_s3(workspace: Workspace, bucket: Any) -> None:
    round_trip(workspace, "s3://packs/of/ann")


def test_packs_live_over_ssh(workspace: Workspace, host: SshServer) -> None:
    round_trip(workspace, f"ssh://ann@127.0.0.1:{host.port}/store/packs")
    left = [path.name for path in (host.root / "store" / "packs").iterdir()]
    assert not [name for name in left if name.endswith((".tmp", ".pages"))]


def talk(memory: Memory) -> int:
    conversation = memory.cold.new_conversation()
    draft = EntryDraft(
        conversation=conversation.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=as_given(TEXT)
    )
    return memory.cold.append(draft).seq


def test_a_store_that_is_away_lets_nothing_go(workspace: Workspace, host: SshServer) -> None:
    memory = opened(workspace, f"ssh://ann@127.0.0.1:{host.port}/packs")
    host.stop()
    seq = talk(memory)
    with pytest.raises(StorageUnreachable) as caught:
        memory.vault.archive_entries([memory.cold.entry(seq)], label="overflow")
    assert "Nothing was deleted" in caught.value.message
    assert memory.cold.entry(seq).text == TEXT
    assert memory.vault.archives() == []
    host.start()
    memory.vault.archive_entries([memory.cold.entry(seq)], label="overflow")
    assert memory.cold.entry(seq).text is None
    assert memory.vault.entry_text(memory.cold.entry(seq)).text == TEXT
    memory.close()


def test_a_connection_that_broke_is_made_again(workspace: Workspace, host: SshServer) -> None:
    memory = opened(workspace, f"ssh://ann@127.0.0.1:{host.port}/packs")
    memory.vault.archive_text(as_given("one"), label="one")
    host.stop()
    host.start()
    memory.vault.archive_text(as_given("two"), label="two")
    assert len(memory.vault.pages()) == 2
    memory.close()


def test_what_was_read_once_is_read_while_the_store_is_away(workspace: Workspace, host: SshServer) -> None:
    memory = opened(workspace, f"ssh://ann@127.0.0.1:{host.port}/packs")
    archived = memory.vault.archive_text(as_given(TEXT), label="ferry")
    memory.close()
    host.stop()
    memory = opened(workspace, f"ssh://ann@127.0.0.1:{host.port}/packs")
    assert memory.vault.read_page(archived.pages[0].id).trust is Trust.EXACT
    for path in workspace.pack_cache.iterdir():
        path.unlink()
    memory.close()
    memory = opened(workspace, f"ssh://ann@127.0.0.1:{host.port}/packs")
    with pytest.raises(StorageUnreachable):
        memory.vault.read_page(archived.pages[0].id)
    memory.close()


def test_a_host_that_is_not_known_is_sent_nothing(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ssh_server(tmp_path / "home", monkeypatch, trusted=False) as server:
        memory = opened(workspace, f"ssh://ann@127.0.0.1:{server.port}/packs")
        with pytest.raises(StorageUnreachable, match="not in your known_hosts"):
            memory.vault.archive_text(as_given("one"), label="one")
        assert list(server.root.iterdir()) == []
        assert not (tmp_path / "home" / ".ssh" / "known_hosts").exists()
        memory.close()


def test_a_host_with_another_key_is_sent_nothing(workspace: Workspace, host: SshServer, tmp_path: Path) -> None:
    import asyncssh

    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    (tmp_path / "home" / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{host.port} {other}")
    memory = opened(workspace, f"ssh://ann@127.0.0.1:{host.port}/packs")
    with pytest.raises(StorageUnreachable, match="its key has changed"):
        memory.vault.archive_text(as_given("one"), label="one")
    assert list(host.root.iterdir()) == []
    memory.close()


def test_a_pack_that_was_altered_there_is_not_taken(workspace: Workspace, bucket: Any) -> None:
    memory = opened(workspace, "s3://packs")
    archived = memory.vault.archive_text(as_given(TEXT), label="ferry")
    name = archived.pages[0].pack
    body = bytearray(bucket.get_object(Bucket="packs", Key=name)["Body"].read())
    body[100] ^= 1
    bucket.put_object(Bucket="packs", Key=name, Body=bytes(body))
    memory.close()
    (workspace.pack_cache / name).unlink()
    memory = opened(workspace, "s3://packs")
    with pytest.raises(Damaged, match="SHA-256 differs"):
        memory.vault.read_page(archived.pages[0].id)
    assert not (workspace.pack_cache / name).exists()
    assert name in {problem.where for problem in memory.vault.check()}
    memory.close()


def test_a_check_sees_what_stands_there_and_not_the_cache(workspace: Workspace, bucket: Any) -> None:
    memory = opened(workspace, "s3://packs")
    name = memory.vault.archive_text(as_given(TEXT), label="ferry").pages[0].pack
    bucket.put_object(Bucket="packs", Key=name, Body=b"rot")
    assert (workspace.pack_cache / name).exists()
    assert name in {problem.where for problem in memory.vault.check()}
    memory.close()


def test_a_cached_pack_that_was_altered_is_fetched_again(workspace: Workspace, bucket: Any) -> None:
    memory = opened(workspace, "s3://packs")
    archived = memory.vault.archive_text(as_given(TEXT), label="ferry")
    memory.close()
    (workspace.pack_cache / archived.pages[0].pack).write_bytes(b"scribble")
    memory = opened(workspace, "s3://packs")
    assert memory.vault.read_page(archived.pages[0].id).trust is Trust.EXACT
    memory.close()


def test_a_bucket_that_is_not_there_is_said(workspace: Workspace, bucket: Any) -> None:
    memory = opened(workspace, "s3://elsewhere/packs")
    seq = talk(memory)
    with pytest.raises(StorageUnreachable, match="s3://elsewhere/packs"):
        memory.vault.archive_entries([memory.cold.entry(seq)], label="overflow")
    assert memory.cold.entry(seq).text == TEXT
    memory.close()


def test_packs_from_before_are_read_where_they_stand(workspace: Workspace, bucket: Any) -> None:
    memory = Memory.open(workspace, read_only=False)
    before = memory.vault.archive_text(as_given(TEXT), label="before")
    memory.close()
    memory = opened(workspace, "s3://packs")
    after = memory.vault.archive_text(as_given("another text"), label="after")
    assert memory.vault.read_page(before.pages[0].id).trust is Trust.EXACT
    assert memory.vault.check() == []
    memory.vault.repacking.run(min_age=timedelta(0), least=1)  # and this brings them along
    assert list(workspace.packs.glob("*.pages")) == []
    assert memory.vault.read_page(before.pages[0].id).trust is Trust.EXACT
    assert memory.vault.read_page(after.pages[0].id).text == "another text"
    memory.close()


@pytest.mark.parametrize(
    "address", ["ftp://host/x", "s3://", "ssh:///folder", "ssh://ann:secret@host/x", "s3://key:secret@bucket/x"]
)
def test_an_address_that_is_none_is_a_misuse(workspace: Workspace, address: str) -> None:
    memory = opened(workspace, address)
    with pytest.raises(Misuse) as caught:
        _ = memory.vault
    assert "secret" not in caught.value.message
    memory.close()


def test_the_cache_is_bounded_and_keeps_what_was_read_last(tmp_path: Path) -> None:
    there = LocalStorage(tmp_path / "there")
    bodies = {f"{n}.pages": bytes([n]) * 1000 for n in range(5)}
    for name, body in bodies.items():
        there.write(name, body)
    known = {name: PackDigest(hashlib.sha256(body).digest(), len(body)) for name, body in bodies.items()}
    cached = CachedStorage(
        there, LocalStorage(tmp_path / "home"), LocalStorage(tmp_path / "cache"), known.get, most=3000
    )
    for name, body in bodies.items():
        assert cached.read(name, 10, 20) == body[10:30]
    kept = {path.name for path in (tmp_path / "cache").iterdir()}
    assert len(kept) == 3
    assert "4.pages" in kept


def test_a_place_that_gives_back_something_else_took_nothing(
    workspace: Workspace, bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(workspace, "s3://packs")
    seq = talk(memory)
    from memory.archive.packs.s3 import S3Storage

    put = S3Storage.upload
    monkeypatch.setattr(S3Storage, "upload", lambda self, fs, path, data: put(self, fs, path, data[:-1]))
    with pytest.raises(Damaged, match="but reads back differently"):
        memory.vault.archive_entries([memory.cold.entry(seq)], label="overflow")
    assert memory.cold.entry(seq).text == TEXT
    assert memory.cold.read(pages.pack_rows) == []
    memory.close()


class Counting(LocalStorage):
    """A folder that notes how many bytes were read from it."""

    taken = 0

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        found = super().read(name, offset, length)
        self.taken += len(found)
        return found


@pytest.mark.parametrize("name", ["0.pages", "0.manifest"])
def test_a_file_that_is_longer_than_it_was_written_is_not_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("memory.archive.packs.pack_cache.LONGEST_FILE", 1000)
    there, body = Counting(tmp_path / "there"), b"x" * 1000
    known = {"0.pages": PackDigest(hashlib.sha256(body).digest(), len(body))}
    cached = CachedStorage(
        there, LocalStorage(tmp_path / "home"), LocalStorage(tmp_path / "cache"), known.get, most=10**9
    )
    there.write(name, body)
    assert cached.read(name) == body
    there.write(name, b"x" * 5_000_000)
    there.taken = 0
    with pytest.raises(Damaged, match="has 5,000,000 bytes, more than the possible 1,000"):
        cached.read(name)
    if name == "0.pages":
        with pytest.raises(Damaged, match="more than the possible"):
            cached.read(name, 10, 20)
    assert there.taken == 0


def longer_than_written(workspace: Workspace, address: str, put: Callable[[str, bytes], None]) -> None:
    """A pack in that place is replaced by one of 40 MB: a sentence, and it was not held."""
    memory = opened(workspace, address)
    (page,) = memory.vault.archive_text(as_given("The ferry leaves at nine."), label="ferry").pages
    memory.vault.read_page(page.id)
    memory.close()
    for path in workspace.pack_cache.iterdir():
        path.unlink()
    put(page.pack, bytes(40_000_000))
    memory = opened(workspace, address)
    memory.vault.storage.names()  # what speaks to the place is loaded
    tracemalloc.start()
    with pytest.raises(Damaged, match="more than the possible"):
        memory.vault.storage.read(page.pack)
    assert memory.vault.storage.size("workspace.id") < 64
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    memory.close()


def test_a_pack_on_s3_that_grew_is_not_fetched(workspace: Workspace, bucket: Any) -> None:
    longer_than_written(
        workspace,
        "s3://packs/of/ann",
        lambda name, body: bucket.put_object(Bucket="packs", Key=f"of/ann/{name}", Body=body),
    )


def test_a_pack_over_ssh_that_grew_is_not_fetched(workspace: Workspace, host: SshServer) -> None:
    longer_than_written(
        workspace,
        f"ssh://ann@127.0.0.1:{host.port}/store/packs",
        lambda name, body: (host.root / "store" / "packs" / name).write_bytes(body) and None,
    )


@pytest.mark.parametrize(("address", "library", "extra"), [("s3://b/p", "s3fs", "s3"), ("ssh://h/p", "sshfs", "ssh")])
def test_a_library_that_is_missing_is_told_with_the_command_that_installs_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, address: str, library: str, extra: str
) -> None:
    monkeypatch.setattr("memory.archive.packs.remote.find_spec", lambda name: None if name == library else object())
    memory = opened(workspace, address)
    with pytest.raises(MissingLibrary) as caught:
        _ = memory.vault
    assert f"palimpsest-shell[{extra}]" in caught.value.hint
    memory.close()


def test_the_doctor_says_whether_the_place_answers(
    workspace: Workspace, host: SshServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent.doctor.doctor import run_checks

    address = f"ssh://ann@127.0.0.1:{host.port}/packs"
    memory = opened(workspace, address)
    memory.vault.archive_text(as_given("one"), label="one")
    memory.close()
    environment = {"PALIMPSEST_ARCHIVE_STORAGE": address, "PALIMPSEST_DETECT": "off"}

    def found() -> tuple[str, str]:
        (one,) = [one for one in run_checks(workspace, environment) if one.topic == "packs"]
        return one.state, one.sentence

    assert found()[0] == "ok"
    host.stop()
    state, sentence = found()
    assert state == "wrong"
    assert address in sentence
