"""Versions come back byte for byte; what is damaged is named; two processes lose nothing."""

import random
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from foundation.clock import to_ms
from memory.errors import Damaged
from memory.settings import VersionSettings
from memory.versions.cause import BY_HAND, Author, Cause, caused_by, current_cause
from memory.versions.manifest import Version
from memory.versions.objects import MOST_DELTAS, Objects
from memory.versions.retention import kept_versions
from memory.versions.store import NoSuchVersion, VersionStore
from tests.fakes import FakeClock

DAY_MS = 86_400_000
LINES = ("- The boiler is serviced in May.", "- 锅炉在五月保养。", "# Plans 🐋", "", "- zones: 3, 4 and 7", "x" * 300)


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> VersionStore:
    return VersionStore(tmp_path / "versions", clock)


def note(seed: int, lines: int = 40) -> bytes:
    dice = random.Random(seed)
    return "\n".join(f"{dice.choice(LINES)} {dice.randint(0, 999)}" for _ in range(lines)).encode()


def changed(body: bytes, dice: random.Random) -> bytes:
    lines = body.split(b"\n")
    for _ in range(dice.randint(1, 3)):
        place = dice.randrange(len(lines))
        lines[place : place + dice.randint(0, 1)] = [dice.choice(LINES).encode()]
    return b"\n".join(lines)


def write_versions(store: VersionStore, count: int, seed: int = 1) -> dict[int, bytes]:
    """Random changes of three files, also removals and binary rubbish; what each version held."""
    dice, held = random.Random(seed), dict[int, bytes]()
    texts = {"MEMORY.md": note(1), "memory/a.md": note(2), "AGENTS.md": b""}
    while len(held) < count:
        path = dice.choice(list(texts))
        body: bytes | None = changed(texts[path], dice)
        if dice.random() < 0.05:
            body = dice.choice((None, b"", dice.randbytes(500), note(dice.randint(0, 9), 200)))
        texts[path] = body or b""
        author = dice.choice(list(Author))
        if version := store.record(path, body, Cause(author, f"change {len(held)}")):
            held[version.number] = body or b""
    return held


def files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_version_says_who_why_and_when(store: VersionStore, clock: FakeClock) -> None:
    store.record("MEMORY.md", b"one\n", BY_HAND)
    clock.advance(60)
    store.record("MEMORY.md", b"one\ntwo\n", Cause(Author.MODEL, "tool remember"))
    first, second = store.versions("MEMORY.md")
    assert (first.author, first.reason, first.size) == (Author.USER, "by hand", 4)
    assert (second.author, second.reason, second.number) == (Author.MODEL, "tool remember", 2)
    assert second.time_ms - first.time_ms == 60_000
    assert (store.body(first), store.body(second)) == (b"one\n", b"one\ntwo\n")
    assert store.before(second) == first
    assert store.before(first) is None


def test_what_did_not_change_is_no_version(store: VersionStore) -> None:
    assert store.record("MEMORY.md", None, BY_HAND) is None
    assert store.record("MEMORY.md", b"one", BY_HAND)
    assert store.record("MEMORY.md", b"one", BY_HAND) is None
    assert store.record("MEMORY.md", None, BY_HAND)
    assert store.record("MEMORY.md", None, BY_HAND) is None
    assert [version.size for version in store.versions()] == [3, 0]


@pytest.mark.parametrize("count", [120, pytest.param(1000, marks=[pytest.mark.soak, pytest.mark.timeout(120)])])
def test_random_versions_come_back_byte_for_byte(tmp_path: Path, clock: FakeClock, count: int) -> None:
    held = write_versions(VersionStore(tmp_path / "versions", clock), count)
    again = VersionStore(tmp_path / "versions", clock)
    assert {version.number: again.body(version) for version in again.versions()} == held
    assert again.check() == []


def test_versions_of_a_long_note_take_little_room(store: VersionStore, tmp_path: Path) -> None:
    dice, body = random.Random(3), dice_text(60_000)
    sizes = 0
    for _ in range(50):
        body = changed(body, dice)
        store.record("MEMORY.md", body, BY_HAND)
        sizes += len(body)
    assert sum(path.stat().st_size for path in files_below(tmp_path / "versions")) < sizes / 10


def dice_text(size: int) -> bytes:
    dice = random.Random(5)
    return b"\n".join(b"%x" % dice.getrandbits(160) for _ in range(size // 41))


def test_every_tenth_content_is_whole(tmp_path: Path) -> None:
    objects, body, base = Objects(tmp_path, "version"), dice_text(20_000), ""
    for number in range(25):
        body += b"\n%d" % number
        base = objects.put(body, base)
    whole = [path for path in files_below(tmp_path) if not path.read_bytes().startswith(b"PVD1")]
    assert len(whole) == 3
    assert MOST_DELTAS == 9
    assert objects.get(base) == body


def test_differences_of_more_than_half_a_whole_content_are_not_stored(tmp_path: Path) -> None:
    objects = Objects(tmp_path, "version")
    base = objects.put(dice_text(4_000))
    objects.put(random.Random(1).randbytes(4_000), base)
    assert [path.read_bytes().startswith(b"PVD1") for path in files_below(tmp_path)] == [False, False]


@pytest.mark.parametrize("count", [40, pytest.param(400, marks=[pytest.mark.soak, pytest.mark.timeout(300)])])
def test_a_flipped_bit_is_named_and_nothing_wrong_is_read(tmp_path: Path, clock: FakeClock, count: int) -> None:
    folder = tmp_path / "versions"
    held = write_versions(VersionStore(folder, clock), 40)
    dice = random.Random(7)
    files = [path for path in files_below(folder) if path.name != "manifest.lock"]
    for _ in range(count):
        path = dice.choice(files)
        body = path.read_bytes()
        place = dice.randrange(len(body))
        path.write_bytes(body[:place] + bytes([body[place] ^ 1 << dice.randrange(8)]) + body[place + 1 :])
        store = VersionStore(folder, clock)
        assert store.check() != [], f"byte {place} of {path.name}"
        for version in store.versions():
            try:
                assert store.body(version) == held[version.number]
            except Damaged as error:
                assert str(folder) in error.message
        path.write_bytes(body)
    assert VersionStore(folder, clock).check() == []


def test_two_texts_that_changed_places_are_not_given_for_each_other(tmp_path: Path) -> None:
    objects = Objects(tmp_path, "version")
    names = [objects.put(b"one"), objects.put(b"two")]
    first, second = (tmp_path / name[:2] / name for name in names)
    body = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(body)
    for name in names:
        with pytest.raises(Damaged, match="does not match its name"):
            objects.get(name)


def test_a_damaged_text_is_mended_by_the_same_text(tmp_path: Path) -> None:
    objects = Objects(tmp_path, "version")
    name = objects.put(b"one")
    (stored,) = files_below(tmp_path)
    stored.write_bytes(stored.read_bytes()[:-1])
    assert objects.put(b"one") == name
    assert objects.get(name) == b"one"


def test_what_a_kept_version_is_read_from_stays_when_that_goes(store: VersionStore, clock: FakeClock) -> None:
    body = dice_text(20_000)
    for number in range(6):
        body += b"\n%d" % number
        store.record("MEMORY.md", body, BY_HAND)
    clock.advance(timedelta(days=40).total_seconds())
    assert store.keep(VersionSettings()) == 5
    assert store.body(store.newest("MEMORY.md")) == body
    assert store.check() == []


def test_a_line_that_was_taken_out_is_missed(store: VersionStore, tmp_path: Path, clock: FakeClock) -> None:
    write_versions(store, 9)
    manifest = tmp_path / "versions" / "manifest"
    lines = manifest.read_bytes().splitlines(keepends=True)
    manifest.write_bytes(b"".join(lines[:4] + lines[5:]))
    assert "missing" in VersionStore(tmp_path / "versions", clock).check()[0].message


Harm = Callable[[Path], object]
HARMS: dict[str, Harm] = {
    "cut": lambda manifest: manifest.write_bytes(manifest.read_bytes()[: manifest.stat().st_size // 2]),
    "cut at a line": lambda manifest: manifest.write_bytes(b"".join(manifest.read_bytes().splitlines(True)[:4])),
    "zeroed": lambda manifest: manifest.write_bytes(bytes(manifest.stat().st_size)),
    "half zeroed": lambda manifest: manifest.write_bytes(manifest.read_bytes()[:900].ljust(2_000, b"\0")),
    "emptied": lambda manifest: manifest.write_bytes(b""),
    "deleted": lambda manifest: manifest.unlink(),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_list_without_its_end_is_named_and_numbers_are_not_given_again(
    tmp_path: Path, clock: FakeClock, harm: str
) -> None:
    folder = tmp_path / "versions"
    write_versions(VersionStore(folder, clock), 9)
    HARMS[harm](folder / "manifest")
    (problem,) = VersionStore(folder, clock).check()
    left = len(VersionStore(folder, clock).versions())
    assert problem.message == f"{9 - left} versions are missing at the end of {folder / 'manifest'}, up to number 9."
    version = VersionStore(folder, clock).record("memory/new.md", b"new", BY_HAND)
    assert version
    assert version.number == 10
    (later,) = VersionStore(folder, clock).check()
    assert later.message.startswith(f"{9 - left} versions are missing from")
    assert later.damage == problem.damage


@pytest.mark.parametrize("harm", HARMS)
def test_a_lost_end_that_was_recorded_as_such_is_no_new_damage_later(
    tmp_path: Path, clock: FakeClock, harm: str
) -> None:
    store = VersionStore(tmp_path / "versions", clock)
    write_versions(store, 9)
    HARMS[harm](tmp_path / "versions" / "manifest")
    assert len(store.record_lost()) == 1
    lost = store.lost_since()
    assert len(lost) == 9 - len(store.versions())
    store.record("memory/new.md", b"new", BY_HAND)
    store.drop_whole()
    assert store.record_lost() == []
    assert store.lost_since() == lost


def test_contents_without_a_list_and_its_head_are_those_of_a_lost_list(tmp_path: Path, clock: FakeClock) -> None:
    folder = tmp_path / "versions"
    held = write_versions(VersionStore(folder, clock), 9)
    (folder / "manifest").unlink()
    (folder / "head").unlink()
    store = VersionStore(folder, clock)
    assert "missing at the end" in store.check()[0].message
    assert store.has_begun()
    version = store.record("memory/new.md", b"new", BY_HAND)
    assert version
    assert version.number > len({body for body in held.values() if body})
    assert "missing from" in VersionStore(folder, clock).check()[0].message


@pytest.mark.parametrize("harm", [harm for harm in HARMS if harm != "half zeroed"])
def test_lost_versions_are_found_again_by_their_texts(tmp_path: Path, clock: FakeClock, harm: str) -> None:
    folder, body = tmp_path / "versions", dice_text(20_000)
    store = VersionStore(folder, clock)
    texts = dict[str, list[bytes]]()
    for number in range(6):
        for path in ("MEMORY.md", "memory/a.md"):
            body += b"\n%d" % number
            store.record(path, own := body + path.encode(), BY_HAND)
            texts.setdefault(path, []).append(own)
    store.record("memory/a.md", None, BY_HAND)
    HARMS[harm](folder / "manifest")
    left = VersionStore(folder, clock).versions()
    kept: list[Path] = []
    again = VersionStore(folder, clock)
    (sentence,) = again.mend({"MEMORY.md": texts["MEMORY.md"][-1]}.__getitem__, kept.append, ["MEMORY.md"])
    assert "found again by their texts, from number 14 on" in sentence
    assert kept == ([] if harm == "deleted" else [folder / "manifest"])
    for path in texts if left else ("MEMORY.md",):
        versions = again.versions(path)
        assert [again.body(version) for version in versions if version.sha256] == texts[path]
    assert len({version.number for version in again.versions()}) == len(again.versions())
    (problem,) = VersionStore(folder, clock).check()
    assert problem.count == 13 - len(again.versions()), "what no file is known of, and that the file was removed"
    assert again.mend({}.__getitem__, kept.append) == []


def test_a_list_of_an_earlier_release_has_no_head_and_is_sound(tmp_path: Path, clock: FakeClock) -> None:
    folder = tmp_path / "versions"
    write_versions(VersionStore(folder, clock), 9)
    (folder / "head").unlink()
    store = VersionStore(folder, clock)
    assert store.check() == []
    store.record("memory/new.md", b"new", BY_HAND)
    HARMS["cut"](folder / "manifest")
    assert "missing at the end" in VersionStore(folder, clock).check()[0].message


def test_a_damaged_head_is_named_and_written_anew(tmp_path: Path, clock: FakeClock) -> None:
    folder = tmp_path / "versions"
    write_versions(VersionStore(folder, clock), 9)
    (folder / "head").write_bytes(bytes(60))
    store = VersionStore(folder, clock)
    assert [problem.message for problem in store.check()] == [
        f"{folder / 'head'}, which records the length of the version list, cannot be read."
    ]
    store.record("memory/new.md", b"new", BY_HAND)
    assert len(store.check()) == 1, "the damage is not hidden by the next version"
    kept: list[Path] = []
    assert len(store.mend(lambda _: b"", kept.append)) == 1
    assert kept == [folder / "head"]
    assert store.check() == []


def test_a_shorter_list_is_no_cut_one(store: VersionStore, tmp_path: Path, clock: FakeClock) -> None:
    write_versions(store, 9)
    clock.advance(timedelta(days=800).total_seconds())
    assert store.keep(VersionSettings()) > 0
    assert store.check() == []
    HARMS["deleted"](tmp_path / "versions" / "manifest")
    assert store.check() != []
    assert store.keep(VersionSettings()) == 0


@pytest.mark.parametrize("cut", [1, 2, 40, 100])
def test_a_line_that_a_crash_cut_off_stops_nothing(tmp_path: Path, clock: FakeClock, cut: int) -> None:
    folder = tmp_path / "versions"
    held = write_versions(VersionStore(folder, clock), 4)
    head, manifest = folder / "head", folder / "manifest"
    before = head.read_bytes()
    last = VersionStore(folder, clock).record("AGENTS.md", b"cut off", BY_HAND)
    held[last.number if last else 0] = b"cut off"
    manifest.write_bytes(manifest.read_bytes()[:-cut])
    head.write_bytes(before)  # it is written after the line
    store = VersionStore(folder, clock)
    number = (store.record("memory/new.md", b"after the crash", BY_HAND) or store.versions()[0]).number
    again = VersionStore(folder, clock)
    assert again.check() == []
    assert again.body(again.version(number)) == b"after the crash"
    kept = {version.number: again.body(version) for version in again.versions() if version.path != "memory/new.md"}
    assert kept == {each: body for each, body in held.items() if each in kept}
    assert len(kept) == (5 if cut == 1 else 4)


def test_threads_and_other_stores_lose_nothing(tmp_path: Path, clock: FakeClock) -> None:
    def write(name: str) -> None:
        mine = VersionStore(tmp_path / "versions", clock)
        for number in range(15):
            mine.record(f"memory/{name}.md", f"{name} {number}".encode(), BY_HAND)

    writers = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    store = VersionStore(tmp_path / "versions", clock)
    assert len(store.versions()) == 60
    assert sorted({version.number for version in store.versions()}) == list(range(1, 61))
    assert store.check() == []


def test_the_last_of_each_day_and_of_each_file_are_kept(clock: FakeClock) -> None:
    start = to_ms(clock.now().replace(hour=0))
    versions = [
        Version(number=day * 2 + half, path="MEMORY.md", time_ms=start + day * DAY_MS + half * 1000, author=Author.USER)
        for day in range(500)
        for half in (1, 2)
    ]
    old = Version(number=2000, path="memory/old.md", time_ms=start, author=Author.USER)
    kept = kept_versions([*versions, old], start + 500 * DAY_MS, VersionSettings())
    assert kept[-1] == old
    of_the_last_30_days = [each for each in versions if each.time_ms >= start + 470 * DAY_MS]
    last_of_a_day = [each for each in versions if each.number % 2 == 0 and 105 <= (each.number - 1) // 2 < 470]
    assert kept[:-1] == last_of_a_day + of_the_last_30_days


def test_dropped_versions_free_their_room(store: VersionStore, clock: FakeClock, tmp_path: Path) -> None:
    for number in range(6):
        store.record("MEMORY.md", note(number), BY_HAND)
        clock.advance(3600)
    stored = len(files_below(tmp_path))
    clock.advance(timedelta(days=40).total_seconds())
    assert store.keep(VersionSettings()) == 5
    assert [store.body(version) for version in store.versions()] == [note(5)]
    assert len(files_below(tmp_path)) < stored
    assert store.check() == []
    assert store.keep(VersionSettings()) == 0
    assert store.record("MEMORY.md", b"new", BY_HAND)


def test_nothing_is_dropped_while_the_list_is_damaged(store: VersionStore, tmp_path: Path, clock: FakeClock) -> None:
    held = write_versions(store, 30)
    manifest = tmp_path / "versions" / "manifest"
    manifest.write_bytes(manifest.read_bytes().replace(b"change 7", b"change 8"))
    clock.advance(timedelta(days=900).total_seconds())
    again = VersionStore(tmp_path / "versions", clock)
    assert again.keep(VersionSettings()) == 0
    assert {version.number for version in again.versions()} == set(held) - {8}


def test_a_number_that_is_not_there_is_a_sentence(store: VersionStore) -> None:
    with pytest.raises(NoSuchVersion, match="No version has the number 7"):
        store.version(7)


def test_a_cause_holds_for_what_is_done_within() -> None:
    with caused_by(Author.MODEL, "tool remember"):
        assert current_cause() == Cause(Author.MODEL, "tool remember")
    assert current_cause().author is Author.PROGRAM
