"""What is old leaves on request, what is pinned stays; archives are listed, tagged and packed."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from foundation.clock import to_ms
from foundation.paths import Workspace
from foundation.privacy import Cleared
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

OLD, NEW = "2020-01-05T10:00:00Z", "2020-06-05T10:00:00Z"


def talk(run: Run, path: Path, name: str, times: list[str], words: str = "The ferry leaves at nine.") -> None:
    lines = [
        {"id": f"{name}{n}", "conversation": name, "time": time, "role": "user", "text": f"{name} {n}: {words} " * 20}
        for n, time in enumerate(times)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("import", str(path)).status == 0


@pytest.fixture
def talked(run: Run, root: Path, tmp_path: Path) -> Run:
    """Two conversations of long ago, as their last entry says."""
    talk(run, tmp_path / "a.jsonl", "harbour", [OLD, OLD])
    talk(run, tmp_path / "b.jsonl", "island", [OLD])
    return age(run, root, {"harbour": OLD, "island": OLD})


def age(run: Run, root: Path, touched: dict[str, str]) -> Run:
    """As if these conversations had been last written to then: an import is of today."""
    memory = Memory.open(Workspace(root))
    for name, when in touched.items():
        ms = to_ms(datetime.fromisoformat(when))
        memory.cold.write(
            lambda db, ms=ms, name=name: (
                db.execute("UPDATE conversations SET updated_ms = ? WHERE id = ?", (ms, name)) and None
            )
        )
    memory.close()
    return run


def stored(root: Path) -> dict[str, bool]:
    """Whether each entry's text stands in the store."""
    memory = Memory.open(Workspace(root))
    found: list[Any] = memory.cold.read(
        lambda db: list(db.execute("SELECT id, body IS NOT NULL FROM entries WHERE kind = 'message'"))
    )
    memory.close()
    return {str(name): bool(there) for name, there in found}


def test_what_is_old_leaves_and_is_found_and_read_back(talked: Run, root: Path) -> None:
    said = talked("archive", "--growing", "--older-than", "30d", "--json")
    assert said.status == 0
    gone = {one["conversation"]: one for one in said.json["conversations"]}
    assert (gone["harbour"]["entries"], gone["island"]["entries"], gone["island"]["spared"]) == (2, 1, "")
    assert not any(stored(root).values())
    hit = talked("search", "harbour ferry", "--json").json["hits"][0]
    assert talked("recall", hit["id"], "--json").json["hits"][0]["text"].startswith("harbour")
    assert talked("check").status == 0
    again = talked("archive", "--growing", "--older-than", "30d")
    assert "No conversation was last active before" in again.err


def test_a_dry_run_does_nothing_and_says_as_much(talked: Run, root: Path) -> None:
    tried = talked("archive", "--growing", "--older-than", "30d", "--dry-run", "--json").json
    assert tried["dry_run"]
    assert all(stored(root).values())
    assert talked("archive", "--list", "--json").json["archives"] == []
    did = talked("archive", "--growing", "--older-than", "30d", "--json").json
    for expected, got in zip(tried["conversations"], did["conversations"], strict=True):
        assert (expected["entries"], expected["pages"]) == (got["entries"], got["pages"])
        assert expected["vision_tokens"] == got["vision_tokens"]
        assert expected["text_tokens"] == got["text_tokens"]
    listed = talked("archive", "--list", "--json").json["archives"]
    for name in ("pages", "text_tokens", "vision_tokens"):
        assert sum(one[name] for one in listed) == sum(one[name] for one in did["conversations"])


def test_an_archived_file_has_no_speaker(run: Run, tmp_path: Path, root: Path) -> None:
    from agent.services.browse import full_passage
    from agent.services.live_search import find_rows

    (tmp_path / "radishes.txt").write_text("The radishes are sown in March, the beans after the last frost.\n")
    assert run("archive", str(tmp_path / "radishes.txt")).status == 0
    assert "user" not in run("search", "radishes").out.split("exact")[0]
    memory = Memory.open(Workspace(root))
    found = [row for asked in ("radishes", "") for row in find_rows(memory, asked).rows]
    assert [row.who for row in found] == ["", ""]
    assert full_passage(memory, found[0]).text.startswith("The radishes")
    (entry,) = memory.cold.read(lambda db: [str(row[0]) for row in db.execute("SELECT id FROM entries")])
    assert "user" not in str(memory.recall(entry)[0].citation)
    memory.close()


def test_short_lines_of_talk_count_as_their_words_alone(run: Run, root: Path, tmp_path: Path) -> None:
    """The line above each entry on its page is of our making: it saves nobody a token."""
    from models.tokens import estimate

    said = [f"So the ferry leaves at {n}." for n in range(300)]
    lines = [
        {"id": f"s{n}", "conversation": "talk", "time": OLD, "role": "user", "speaker": "Ann", "text": text}
        for n, text in enumerate(said)
    ]
    (tmp_path / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run("import", str(tmp_path / "talk.jsonl"))
    age(run, root, {"talk": OLD})
    tried = run("archive", "--growing", "--older-than", "30d", "--dry-run").err
    (did,) = run("archive", "--growing", "--older-than", "30d", "--json").json["conversations"]
    words = sum(map(estimate, said))
    assert words <= did["text_tokens"] <= words * 1.05  # one that is cut by a page's end counts as two
    assert f"{did['text_tokens']:,} text tokens on {did['vision_tokens']:,} vision tokens" in tried


def test_pinned_conversations_stay(talked: Run, root: Path) -> None:
    assert talked("archive", "--pin", "island").status == 0
    said = talked("archive", "--growing", "--older-than", "30d")
    assert "stays: pinned" in said.out
    assert "1 spared" in said.err
    assert {name: there for name, there in stored(root).items() if name.startswith("island")} == {"island0": True}
    talked("archive", "--unpin", "island")
    talked("archive", "--growing", "--older-than", "30d")
    assert not any(stored(root).values())


def test_a_conversation_whose_archive_is_pinned_stays(talked: Run, root: Path) -> None:
    talked("archive", "--growing", "--older-than", "30d")
    assert talked("archive", "--pin", "harbour").status == 0
    memory = Memory.open(Workspace(root))
    conversation = memory.cold.conversation("harbour")
    memory.cold.append(
        EntryDraft(
            conversation=conversation.seq,
            parent=conversation.leaf,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=Cleared("Another word."),
            time=datetime.fromisoformat(OLD),
        )
    )
    memory.close()
    assert "stays: pinned" in talked("archive", "--growing", "--older-than", "30d").out


def test_of_a_conversation_that_goes_on_only_what_is_out_of_view_leaves(run: Run, root: Path, tmp_path: Path) -> None:
    talk(run, tmp_path / "a.jsonl", "harbour", [OLD, OLD, OLD])
    age(run, root, {"harbour": datetime.now(UTC).isoformat()})
    said = run("archive", "--growing", "--older-than", "30d")  # somebody spoke in it today: all of it is in view
    assert "No conversation was last active before" in said.err
    assert all(stored(root).values())


def test_an_old_conversation_can_be_gone_on_with(talked: Run) -> None:
    talked("archive", "--growing", "--older-than", "30d")
    said = talked("context", "And then?", "-r", "harbour", "--json")
    assert said.status == 0
    assert any("harbour 0: The ferry" in message["text"] for message in said.json["messages"])


def test_archives_are_listed_with_all_that_is_known_of_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ann, the ferry leaves at nine.\n" * 9)
    run("archive", str(tmp_path / "letter.txt"))
    run("archive", "--tag", "letter", "travel")
    run("archive", "--tag", "#1", "2026")
    run("archive", "--pin", "letter")
    (one,) = run("archive", "--list", "--json").json["archives"]
    assert (one["number"], one["label"], one["pages"], one["tags"], one["pinned"]) == (
        1,
        "letter",
        1,
        ["2026", "travel"],
        True,
    )
    assert one["text_tokens"] > one["vision_tokens"] > 0
    table = run("archive", "--list").out
    assert "2026 travel" in table and "pinned" in table
    run("archive", "--untag", "letter", "2026")
    run("archive", "--rename", "letter", "To Ann")
    run("archive", "--unpin", "To Ann")
    (one,) = run("archive", "--list", "--json").json["archives"]
    assert (one["label"], one["tags"], one["pinned"]) == ("To Ann", ["travel"], False)
    assert run("check").status == 0


def test_repack_packs_tighter_and_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(f"{n}: {n * n} boats in the harbour\n" for n in range(3000)))
    run("archive", str(tmp_path / "long.txt"), "--mode", "tiny")
    did = run("archive", "--repack", "--json").json
    assert did["bytes_after"] < did["bytes_before"]
    assert "All pages are already packed" in run("archive", "--repack").err
    assert run("check").status == 0


def test_conversations_that_would_grow_stay_as_text(run: Run) -> None:
    run("-p", "The kiln is hot.")
    tried = run("archive", "--older-than", "2090-01-01")
    assert "stays: pages would take more tokens than its text" in tried.out
    assert "would take more tokens as pages" in tried.err
    assert run("archive", "--list", "--json").json["archives"] == []
    assert run("archive", "--growing", "--older-than", "2090-01-01").status == 0
    assert run("archive", "--list", "--json").json["archives"]


def test_a_mode_as_the_second_word_is_answered_with_what_to_write(run: Run) -> None:
    wrong = run("archive", "in 3k.txt", "large")
    assert wrong.status == 2 and "archive 'in 3k.txt' --mode large" in wrong.err
    assert "One at a time" in run("archive", "a.txt", "b.txt").err


def test_dense_pages_hold_more(run: Run, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(f"{n}: boats in the harbour\n" for n in range(900)))
    plain = run("archive", str(tmp_path / "long.txt"), "--label", "plain", "--mode", "large", "--json").json
    dense = run("archive", str(tmp_path / "long.txt"), "--label", "dense", "--dense", "--json").json
    assert dense["ratio"] > plain["ratio"] * 1.4


@pytest.mark.parametrize(
    "words",
    [
        ("--list", "--repack"),
        ("--growing", "--older-than", "30d", "x.txt"),
        ("--growing", "--older-than", "soon"),
        ("--dry-run",),
        ("--tag", "letter", " "),
        ("--pin", ""),
        (".",),
        ("--mode", "huge", "x.txt"),
    ],
)
def test_what_makes_no_sense_is_a_misuse(run: Run, words: tuple[str, ...]) -> None:
    assert run("archive", *words).status == 2


def test_an_archive_that_is_not_there_is_said(run: Run) -> None:
    said = run("archive", "--tag", "nothing", "x")
    assert said.status == 1
    assert "archive --list" in said.err


def test_a_file_named_like_an_option_is_archived(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--list").write_text("Dear Ann")
    assert run("archive", "./--list", "--json").json["label"] == "--list"
    assert run("archive", "--", "--list").status == 0


def test_search_finds_by_a_new_label_and_by_a_tag(run: Run, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ann, the ferry leaves at nine.\n" * 9)
    for name in ("first", "second"):  # the second takes the first one's page
        run("archive", str(tmp_path / "letter.txt"), "--label", name)
    run("archive", "--rename", "second", "To Ann")
    run("archive", "--tag", "first", "travel")
    for label in ("To Ann", "travel", "first"):
        assert run("search", "ferry", "--label", label, "--json").json["total"] == 1
    assert not run("search", "ferry", "--label", "elsewhere", "--json").json["found"]
