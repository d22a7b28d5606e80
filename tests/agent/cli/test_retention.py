"""Rules of retention: the first that matches holds, what is dear stays, and an archiving is taken back."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.services import retention
from agent.services.forget import NotForgottenYet
from foundation.clock import to_ms
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.cold import sql
from memory.memory import Memory
from memory.upkeep.state import read_state
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

Talk = Callable[..., str]


@pytest.fixture
def talk(run: Run, root: Path, tmp_path: Path) -> Talk:
    """Imports a conversation that was last touched so many days ago; gives its id."""

    def make(name: str, days: int, *labels: str, words: str = "渡轮九点开 ⛴ the ferry leaves at nine") -> str:
        when = datetime.now(UTC) - timedelta(days=days)
        line = {"id": f"{name}-1", "conversation": name, "role": "user", "time": when.isoformat(), "text": words * 30}
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps(line) + "\n", encoding="utf-8")
        assert run("import", str(path)).status == 0
        memory = Memory.open(Workspace(root))
        conversation = memory.conversations.find(name)
        for label in labels:
            memory.conversations.label(conversation.seq, as_given(label))
        ms = to_ms(when)
        memory.cold.write(lambda db: sql.run(db, "UPDATE conversations SET updated_ms = ? WHERE id = ?", (ms, name)))
        memory.close()
        return name

    return make


def in_store(root: Path) -> dict[str, bool]:
    """Whether the text of each conversation is in the database; conversations that are gone are not named."""
    with closing(sqlite3.connect(root / ".palimpsest" / "cold.db")) as db:
        query = """SELECT c.id, min(e.body IS NOT NULL) FROM conversations c
                 JOIN entries e ON e.conversation = c.seq GROUP BY 1"""
        return {name: bool(there) for name, there in db.execute(query)}


def settle(run: Run, **settings: object) -> None:
    for name, value in settings.items():
        assert (
            run(
                "config", "set", f"retention.{name}", json.dumps(value) if isinstance(value, list) else str(value)
            ).status
            == 0
        )


def confirmed() -> tuple[str, ...]:
    """The command that deletes, with today's date: nothing newer than what it deletes proves the clock."""
    return "retention", "--yes", "--today", f"{datetime.now().astimezone():%Y-%m-%d}"


def test_without_rules_nothing_is_done(run: Run, root: Path, talk: Talk) -> None:
    talk("harbour", 400)
    ran = run("retention")
    assert ran.status == 0
    assert "No rules are set" in ran.err
    assert in_store(root) == {"harbour": True}


def test_what_is_older_than_the_days_is_archived_and_stays_searchable(run: Run, root: Path, talk: Talk) -> None:
    talk("harbour", 100)
    talk("island", 20)
    settle(run, archive_days=90)
    ran = run("retention", "--json")
    assert ran.json["archived"]["conversations"] == 1
    assert in_store(root) == {"harbour": False, "island": True}
    assert run("search", "渡轮", "--json").json["total"] == 2
    assert run("check").status == 0


def test_a_dry_run_shows_figures_for_each_rule_and_does_nothing(run: Run, root: Path, talk: Talk) -> None:
    talk("harbour", 100)
    talk("island", 100, "trip")
    settle(run, archive_days=90, rules=[{"label": "trip", "delete_days": 30}])
    ran = run("retention", "--dry-run", "--json")
    rules = {rule["rule"]: rule for rule in ran.json["rules"]}
    assert (rules[1]["deletes"], rules[1]["archives"], rules[0]["archives"]) == (1, 0, 1)
    assert rules[1]["deleted_bytes"] > 0
    assert ran.json["deleted"] == []
    assert ran.json["archived"] is None
    assert in_store(root) == {"harbour": True, "island": True}
    assert "all others: archived after 90 days" in run("retention", "--dry-run").out


def test_the_first_rule_that_matches_holds(run: Run, root: Path, talk: Talk) -> None:
    talk("harbour", 100, "trip", "dull")
    talk("island", 100, "dull")
    settle(run, archive_days=1, rules=[{"label": "trip"}, {"label": "dull", "delete_days": 30}])
    ran = run(*confirmed(), "--json")
    assert ran.json["deleted"] == ["island"]
    assert in_store(root) == {"harbour": True}, "the rule that names no days keeps"


def test_rules_match_by_kind_and_by_pattern_of_the_title(run: Run, root: Path, talk: Talk) -> None:
    talk("harbour", 100)
    run("-p", "How is the boiler? 锅炉怎么样")
    memory = Memory.open(Workspace(root))
    memory.conversations.rename(memory.conversations.find("harbour").seq, as_given("Ferry to 香港 ⛴"))
    memory.cold.write(lambda db: sql.run(db, "UPDATE conversations SET updated_ms = 1"))
    memory.close()
    settle(run, rules=[{"pattern": "ferry*香港*", "archive_days": 30}, {"kind": "one-shot", "delete_days": 30}])
    planned = run("retention", "--dry-run", "--json").json["conversations"]
    assert {each["action"]: each["rule"] for each in planned} == {"archive": 1, "delete": 2}


def test_deleting_asks_and_without_a_terminal_is_refused_before_anything_is_done(
    run: Run, root: Path, talk: Talk
) -> None:
    talk("harbour", 100)
    talk("island", 40)
    settle(run, archive_days=30, delete_days=90)
    today = confirmed()[2:]
    ran = run("retention", *today, stdin=b"")
    assert ran.status == 2
    assert "Rules delete 1 conversation" in ran.err
    assert run("retention", *today).status == 130, "the answer at the terminal is no"
    assert in_store(root) == {"harbour": True, "island": True}
    assert run(*confirmed()).status == 0
    assert in_store(root) == {"island": False}


@pytest.mark.parametrize("label", ["pinned", "keep", "turn:e_1=★"])
def test_what_is_pinned_kept_or_bookmarked_stays(run: Run, root: Path, talk: Talk, label: str) -> None:
    talk("harbour", 400, label)
    settle(run, archive_days=30, delete_days=90)
    ran = run(*confirmed(), "--json")
    assert ran.json["deleted"] == []
    assert ran.json["conversations"][0]["stays"]
    assert in_store(root) == {"harbour": True}
    with closing(sqlite3.connect(root / ".palimpsest" / "cold.db")) as db:  # the control: without the label it goes
        db.execute("DELETE FROM labels")
        db.commit()
    assert run(*confirmed(), "--json").json["deleted"] == ["harbour"]


@pytest.mark.parametrize("importance", ["critical", "decision"])
def test_what_is_important_stays_unless_that_is_switched_off(run: Run, root: Path, talk: Talk, importance: str) -> None:
    talk("harbour", 400)
    with closing(sqlite3.connect(root / ".palimpsest" / "cold.db")) as db:
        meta = json.dumps({"maker": "rules", "importance": importance}, separators=(",", ":")).encode()
        db.execute(
            """INSERT INTO entries (conversation, id, kind, role, time_ms, body, chars, sha256, meta)
               SELECT seq, 'e_o', 'observation', 'user', 1, x'', 0, x'', ? FROM conversations""",
            (meta,),
        )
        db.commit()
    settle(run, delete_days=90)
    ran = run(*confirmed(), "--json")
    assert "important" in ran.json["conversations"][0]["stays"]
    settle(run, keep_important="false")
    assert run(*confirmed(), "--json").json["deleted"] == ["harbour"]


def test_what_was_recalled_since_counts_as_touched(run: Run, root: Path, talk: Talk) -> None:
    talk("harbour", 400)
    settle(run, archive_days=30)
    assert run("-p", "When does the ferry leave? 渡轮几点开").status == 0
    assert run("retention", "--json").json["archived"] is None
    with closing(sqlite3.connect(root / ".palimpsest" / "cold.db")) as db:  # the control
        assert db.execute("SELECT count(*) FROM entries WHERE sent IS NOT NULL").fetchone()[0]
        db.execute("UPDATE entries SET sent = NULL")
        db.commit()
    assert run("retention", "--json").json["archived"]["conversations"] == 1


def test_an_archiving_is_taken_back_text_by_text(run: Run, root: Path, talk: Talk) -> None:
    texts = {}
    for name in ("harbour", "island"):
        talk(name, 100, words=f"{name} 汉字 🙂 shared words of both\n" * 40)
    texts = {name: run("recall", f"{name}-1").out for name in ("harbour", "island")}
    settle(run, archive_days=90)
    run("retention")
    assert in_store(root) == {"harbour": False, "island": False}
    ran = run("retention", "--undo", "--json")
    assert ran.json["undone"]["conversations"] == 2
    assert in_store(root) == {"harbour": True, "island": True}
    assert {name: run("recall", f"{name}-1").out for name in texts} == texts
    assert run("archive", "--list", "--json").json["archives"] == []
    assert not list((root / ".palimpsest" / "packs").glob("*.pages"))
    assert run("check").status == 0
    assert read_state(Workspace(root)).runs[-1].undone
    nothing = run("retention", "--undo", "--json")
    assert (nothing.status, nothing.json["error"]["code"]) == (1, "nothing_to_take_back")


def test_pages_that_another_conversation_needs_stay_when_one_archiving_is_taken_back(
    run: Run, root: Path, talk: Talk
) -> None:
    words = "".join(f"{n}: 共同的文字 the same words in both of them, {n * 7919}\n" for n in range(8))
    talk("harbour", 200, words=words)
    settle(run, archive_days=150)
    run("retention")
    talk("island", 100, words=words)
    settle(run, archive_days=90)
    run("retention")
    assert run("retention", "--undo").status == 0
    assert in_store(root) == {"harbour": False, "island": True}
    assert run("check").status == 0
    assert run("recall", "harbour-1").out.count("共同的文字") == run("recall", "island-1").out.count("共同的文字")
    assert run("retention", "--undo").status == 0
    assert in_store(root) == {"harbour": True, "island": True}
    assert run("check").status == 0


def test_a_deletion_that_goes_on_later_says_so_beside_what_was_archived(
    run: Run, root: Path, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(*_: object) -> None:
        raise NotForgottenYet("Not forgotten yet", "A pack cannot be reached.", "The next command goes on with it.")

    talk("harbour", 100)
    talk("island", 40)
    settle(run, archive_days=30, delete_days=90)
    monkeypatch.setattr(retention, "delete_conversations", cut_short)
    ran = run(*confirmed(), "--json")
    assert (ran.status, ran.json["deleted"], ran.json["archived"]["conversations"]) == (75, [], 1)
    assert "A pack cannot be reached. The next command goes on with it." in ran.err


def test_an_untrusted_workspace_sets_no_rules(bare: Run, run: Run, root: Path, talk: Talk) -> None:
    """What deletes is not for a stranger's configuration to say."""
    from agent.config.settings import all_settings

    guarded = {name for name, setting in all_settings().items() if name.startswith("retention.") and setting.guarded}
    assert guarded == {
        f"retention.{name}" for name in ("archive_days", "delete_days", "rules", "keep_important", "background")
    }
