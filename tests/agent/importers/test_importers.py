"""Foreign files, read: bad places are told, the rest is kept, and nothing is stored twice."""

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.importers.formats import detect, read_file
from agent.importers.json_array import NotAnArray, objects
from agent.importers.jsonl import read_jsonl
from agent.importers.record import BadRecord, ConversationLeaf, ImportRecord
from agent.importers.timestamps import parse_time
from foundation.paths import Workspace
from foundation.trust import Trust
from memory.cold import ColdStore
from memory.records import UNTIMED, EntryKind
from models.messages import Role
from tests.agent.importers.exports import BRANCHED, CLAUDE
from tests.agent.importers.stored import branch, lines, stored

# ── JSONL ──


def test_only_text_is_required_and_the_rest_of_a_line_is_kept(cold: ColdStore) -> None:
    told = {"text": "full", "id": "D1:3", "conversation": "conv-26", "role": "assistant", "speaker": "Mel"}
    told |= {"time": "2023-05-08T13:56:00Z", "mood": {"n": 1}}
    stored(cold, read_jsonl(lines({"text": "bare"}, told), "letters"))
    bare = branch(cold, "letters")[0]
    full = branch(cold, "conv-26")[0]
    assert (bare.text, bare.role, bare.meta) == ("bare", Role.USER, {UNTIMED: True})
    assert (full.id, full.text, full.role, full.speaker) == ("D1:3", "full", Role.ASSISTANT, "Mel")
    assert full.time == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert full.meta == {"imported": {"mood": {"n": 1}}}


def test_content_and_timestamp_are_taken_for_text_and_time(cold: ColdStore) -> None:
    parts = [{"type": "text", "text": "看 this"}, {"type": "image_url", "image_url": {"url": "x"}}, {"text": "🏺"}]
    told: list[dict[str, Any]] = [
        {"role": "user", "content": "When? 什么时候？", "timestamp": "2023-05-08T13:56:00Z"},
        {"role": "assistant", "content": parts, "timestamp": 1_683_554_160},
        {"role": "user", "text": "own", "content": "kept as it is"},
    ]
    imported = stored(cold, read_jsonl(lines(*told), "letters"))
    assert imported.bad == ()
    first, second, third = branch(cold, "letters")
    assert (first.role, first.text, first.time) == (
        Role.USER,
        "When? 什么时候？",
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
    )
    assert (second.role, second.text, second.time) == (Role.ASSISTANT, "看 this\n\n🏺", first.time)
    assert (third.text, third.meta) == ("own", {"imported": {"content": "kept as it is"}, UNTIMED: True})


def test_equal_errors_are_one_reason_with_their_number(cold: ColdStore) -> None:
    told = [*({"role": "user"} for _ in range(300)), {"text": 5}]
    imported = stored(cold, read_jsonl(lines(*told), "letters"))
    assert [(bad.location, number) for bad, number in imported.reasons] == [("line 1", 300), ("line 301", 1)]


def test_a_line_that_was_damaged_where_it_was_exported_stays_in_doubt(cold: ColdStore) -> None:
    """It became exact on its way through an export and an import."""
    marks: list[dict[str, Any]] = [{"trust": "approximate"}, {"trust": ["odd"]}, {"trust": "exact"}, {}]
    told = [{"id": str(n), "text": f"words {n}", "palimpsest": mark} for n, mark in enumerate(marks)]
    stored(cold, read_jsonl(lines(*told), "letters"))
    assert [entry.trust for entry in branch(cold, "letters")] == [
        Trust.APPROXIMATE,
        Trust.APPROXIMATE,
        Trust.EXACT,
        Trust.EXACT,
    ]


def test_bad_lines_are_told_by_number_and_the_rest_is_imported(cold: ColdStore) -> None:
    raw = [
        *lines({"text": "a"}, "{not json", [1], {"text": 3}, {"no": "text"}),
        b"\xff\xfe\n",
        b"\n",
        *lines({"text": "b"}),
    ]
    imported = stored(cold, read_jsonl(raw, "c"))
    assert [bad.location for bad in imported.bad] == ["line 2", "line 3", "line 4", "line 5", "line 6"]
    assert imported.bad_count == 5
    assert [entry.text for entry in branch(cold, "c")] == ["a", "b"]


def test_a_time_that_is_not_understood_is_told_and_the_line_kept(cold: ColdStore) -> None:
    imported = stored(cold, read_jsonl(lines({"text": "a", "time": "yesterday"}), "c"))
    assert imported.bad[0].partly_imported
    assert branch(cold, "c")[0].meta == {"imported": {"time": "yesterday"}, UNTIMED: True}


def test_importing_again_adds_nothing_and_a_grown_file_only_what_is_new(cold: ColdStore) -> None:
    first = lines({"id": "1", "text": "a"}, {"text": "ok"}, {"text": "ok"})
    assert stored(cold, read_jsonl(first, "c")).entries == 3
    assert stored(cold, read_jsonl(first, "c")).entries == 0
    grown = stored(cold, read_jsonl([*first, *lines({"id": "9", "text": "z"})], "c"))
    assert (grown.entries, grown.already) == (1, 3)
    assert [entry.text for entry in branch(cold, "c")] == ["a", "ok", "ok", "z"]


def test_new_lines_alone_follow_what_is_stored(cold: ColdStore) -> None:
    stored(cold, read_jsonl(lines({"id": "1", "text": "a"}), "c"))
    stored(cold, read_jsonl(lines({"id": "2", "text": "b"}), "c"))
    assert [entry.text for entry in branch(cold, "c")] == ["a", "b"]


def test_the_same_ids_of_another_source_are_other_entries(cold: ColdStore) -> None:
    same = lines({"id": "1", "conversation": "c", "text": "a"})
    assert stored(cold, read_jsonl(same, "c"), source="one").entries == 1
    assert stored(cold, read_jsonl(same, "c"), source="two").entries == 1


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(cold: ColdStore) -> None:
    raw = [b'\xef\xbb\xbf{"text": "a"}\r\n', b'{"text": "b"}\r\n']
    stored(cold, read_jsonl(raw, "c"))
    assert [entry.text for entry in branch(cold, "c")] == ["a", "b"]


def test_private_spans_and_secrets_do_not_reach_the_store(cold: ColdStore, workspace: Workspace) -> None:
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    told = {"text": f"my <private>own</private> {secret}", "note": f"again {secret}", "speaker": "A"}
    imported = stored(cold, read_jsonl(lines(told), "c"))
    assert imported.redacted == 2
    cold.close()
    for path in workspace.root.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes()
            assert b"own</private>" not in path.read_bytes()


def test_a_line_cannot_pose_as_a_summary(cold: ColdStore) -> None:
    stored(cold, read_jsonl(lines({"text": "x", "palimpsest": {"kind": "summary", "meta": {"first_kept": 1}}}), "c"))
    assert branch(cold, "c")[0].kind is EntryKind.MESSAGE


@pytest.mark.timeout(30)
def test_many_lines_take_several_transactions(cold: ColdStore) -> None:
    seen: list[int] = []
    many = lines(*({"id": str(n), "text": f"line {n}"} for n in range(4500)))
    assert stored(cold, read_jsonl(many, "c"), on_progress=seen.append).entries == 4500
    assert seen == [2000, 4000, 4500]
    assert len(branch(cold, "c")) == 4500


@given(
    st.lists(st.one_of(st.binary(max_size=40), st.text(max_size=20).map(lambda t: json.dumps({"text": t}).encode())))
)
def test_no_line_breaks_the_reader(raw: list[bytes]) -> None:
    for read in read_jsonl(raw, "c"):
        assert isinstance(read, ImportRecord | BadRecord | ConversationLeaf)


# ── times ──


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2023-05-08T13:56:00Z", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023-05-08 13:56", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023-05-08T15:56:00+02:00", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        (1683554160, datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        (1683554160000, datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("1683554160.0", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("soon", None),
        (None, None),
        (True, None),
        (float("nan"), None),
        (1e300, None),
        ([], None),
    ],
)
def test_times_are_understood_as_programs_write_them(said: Any, meant: datetime | None) -> None:
    assert parse_time(said) == meant


# ── large arrays ──


@given(st.lists(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.lists(inner), max_leaves=8)))
def test_an_array_is_streamed_to_the_letter(values: list[Any]) -> None:
    raw = json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass")
    try:
        raw.decode()
    except UnicodeDecodeError:
        return
    assert list(objects(_Dribble(raw), "x")) == values


def test_a_cut_off_array_is_told_with_its_place() -> None:
    with pytest.raises(NotAnArray, match="x: "):
        list(objects(io.BytesIO(b'[{"a": 1}, {"b": '), "x"))


class _Dribble(io.BytesIO):
    """Gives seven bytes at most, whatever is asked for."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(7)


# ── ChatGPT ──


# ── Claude ──


# ── formats ──


def test_each_format_shows_itself(tmp_path: Path) -> None:
    def put(name: str, raw: bytes) -> Path:
        (tmp_path / name).write_bytes(raw)
        return tmp_path / name

    assert detect(put("a.jsonl", b'{"text": "x"}\n')) == "jsonl"
    assert detect(put("b.json", json.dumps([BRANCHED]).encode())) == "chatgpt"
    assert detect(put("c.json", json.dumps([CLAUDE]).encode())) == "claude"
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as archive:
        archive.writestr("export/conversations.json", json.dumps([BRANCHED]))
        archive.writestr("export/user.json", "{}")
    assert detect(tmp_path / "d.zip") == "chatgpt"
    assert len([read for read in read_file(tmp_path / "d.zip", None) if isinstance(read, ImportRecord)]) == 5
    with pytest.raises(NotAnArray):
        detect(put("e.json", b"[1, 2]"))


def test_an_archive_that_unpacks_to_far_too_much_is_refused_at_once(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("conversations.json", "w") as file:
        for _ in range(80):
            file.write(b" " * 2**20)
    for reading in (lambda: detect(bomb), lambda: list(read_file(bomb, "chatgpt"))):
        with pytest.raises(NotAnArray, match=r"80 MB, .* times its size"):
            reading()


# ── what names an entry ──


def test_ids_are_as_clean_as_words_and_still_tell_entries_apart(cold: ColdStore) -> None:
    told = [
        {"text": "one", "id": "m<private>ZORK</private>", "conversation": "c<private>ZORKA</private>"},
        {"text": "two", "id": "m<private>ZORX</private>", "conversation": "c<private>ZORKA</private>"},
        {"text": "three", "id": "m<private>ZORK</private>", "conversation": "c<private>ZORKB</private>"},
    ]
    assert stored(cold, read_jsonl(lines(*told), "x")).entries == 3
    assert stored(cold, read_jsonl(lines(*told), "x")).already == 3
    conversations = cold.conversations()
    names = [conversation.id for conversation in conversations]
    ids = [entry.id for one in names for entry in branch(cold, one)]
    assert len(set(names)) == 2
    assert len(set(ids)) == 2
    assert all(name.startswith("c[private]-") for name in names)
    assert all(id_.startswith("m[private]-") for id_ in ids)


def test_a_source_and_a_parent_are_named_cleanly_too(cold: ColdStore) -> None:
    private = "p <private>ZORK"
    told = [
        {"text": "one", "id": private, "conversation": "c"},
        {"text": "two", "id": "b", "conversation": "c", "palimpsest": {"parent": private, "source": private}},
        {"text": "three", "id": "d", "conversation": "c", "palimpsest": {"parent": private, "leaf": True}},
    ]
    stored(cold, read_jsonl(lines(*told), "x"))
    assert all("ZORK" not in conversation.source for conversation in cold.conversations())
    assert "p [private]" in " ".join(conversation.source for conversation in cold.conversations())


@pytest.mark.parametrize("levels", [120, 900, 5_000])
def test_a_line_that_is_nested_too_deep_is_told_and_its_neighbours_stay(cold: ColdStore, levels: int) -> None:
    deep = '{"text": "x", "k": ' + '{"a":' * levels + "1" + "}" * levels + "}"
    imported = stored(cold, read_jsonl(lines({"text": "before"}, deep, {"text": "after"}), "x"))
    assert [entry.text for entry in branch(cold, "x")] == ["before", "after"]
    assert [(bad.location, bad.sentence) for bad in imported.bad] == [("line 2", "it is nested too deeply")]


def test_a_line_that_is_nested_as_deep_as_people_write_is_kept(cold: ColdStore) -> None:
    deep = '{"text": "x", "k": ' + '{"a":[' * 40 + "1" + "]}" * 40 + "}"
    assert stored(cold, read_jsonl(lines(deep), "x")).entries == 1
