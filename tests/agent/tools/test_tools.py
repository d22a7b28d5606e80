"""A model that calls tools: what runs, what asks first, what is kept and what the model sees of it."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.events import (
    AnswerStored,
    PermissionRequested,
    Stopped,
    ToolFinished,
    TurnFailed,
    UserStored,
)
from agent.permissions.action import PermissionAnswer
from agent.session import Session
from agent.tools.files.project import ProjectFolders
from agent.tools.memory.search import MAX_RESULT_TOKENS, MemorySearch
from agent.tools.port import ToolFailure, ToolRun, ToolSettings
from agent.tools.registry import ToolOutput
from context.recall.prefetch import Prefetch, PrefetchResult
from foundation.paths import Workspace
from memory.records import Entry, EntryDraft, EntryKind
from memory.search import Query, SearchResults
from models.messages import Role, ToolCall
from models.settings import ModelSettings
from models.tokens import estimate
from tests.agent.sessions import asked, calls, only, open_session, told, turn
from tests.loopback import Loopback, chat, data, delta, stream

UNSTOPPED = ToolRun("e_test", threading.Event())


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(
        workspace,
        tmp_path,
        server,
        models=ModelSettings(tools=True, window=16_000),
        tools=ToolSettings(result_chars=200, most_calls=3),
    )
    yield opened
    await opened.close()


async def test_memory_is_searched_without_asking_and_the_model_gets_the_passage(
    session: Session, server: Loopback
) -> None:
    session.memory.hot.remember(_cleared("The canary is called Pavarotti."), heading=None, conversation=None)
    server.plays(calls("search_memory", query="canary"), chat("It is Pavarotti."))
    seen = await turn(session, "Hm?")
    assert "Pavarotti" in told(server)["content"]
    assert "exact" in told(server)["content"]
    assert only(seen, AnswerStored).text == "It is Pavarotti."
    names = [tool["function"]["name"] for tool in asked(server)[0].json["tools"]]
    assert names == ["memory_search", "recall", "remember"]  # no project: memory alone


async def test_a_file_of_the_project_is_read_without_asking(
    session: Session, server: Loopback, workspace: Workspace
) -> None:
    (workspace.root / "notes.txt").write_text("one\ntwo\nthree\n")
    server.plays(calls("read_file", path="notes.txt", offset=2, limit=1), chat("Two."))
    await turn(session, "read it")
    assert told(server)["content"] == "two\n"


async def test_a_file_of_keys_is_read_only_with_permission(
    session: Session, server: Loopback, workspace: Workspace
) -> None:
    (workspace.root / ".env").write_text("The gate code is on the fridge.")
    server.plays(calls("read_file", path=".env"), chat("No?"), calls("read_file", path=".env"), chat("Yes."))
    declined = await turn(session, "read it", lambda _: False)
    assert only(declined, ToolFinished).failed
    assert told(server)["content"] == "Not done: read .env. The user declined."
    assert "fridge" not in asked(server)[-1].body.decode()
    reasons: list[str] = []
    await turn(session, "again", lambda event: not reasons.append(event.reason))
    assert reasons == [".env looks like a file of keys or passwords."]
    assert told(server)["content"] == "The gate code is on the fridge."


@pytest.mark.parametrize("name", [".env", ".ENV", "server.PEM", ".ssh/config", ".SSH/config", "id_rsa"])
def test_files_of_keys_ask_in_any_case(tmp_path: Path, name: str) -> None:
    project = ProjectFolders((tmp_path,))
    assert project.reading_concern(project.locate(name))
    assert not project.reading_concern(project.locate("env.py"))


def test_the_programs_own_state_is_out_of_bounds_in_any_case(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure):
        ProjectFolders((tmp_path,)).locate(".PALIMPSEST/cold.db")


def test_each_file_asks_where_the_project_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    for folder in (tmp_path, tmp_path / "home"):
        project = ProjectFolders((folder,))
        assert "home folder" in project.reading_concern(project.locate("notes.txt"))
    inside = ProjectFolders((tmp_path / "home" / "work",))
    assert not inside.reading_concern(inside.locate("notes.txt"))


async def test_a_reason_for_declining_is_read_by_the_model(session: Session, server: Loopback) -> None:
    server.plays(calls("remember", note="Tea at four."), chat("I see."))
    async for event in session.send("remember"):
        if isinstance(event, PermissionRequested):
            event.answer.set_result(PermissionAnswer(False, reason="It is at five."))
    assert told(server)["content"].endswith("The user declined: It is at five.")


async def test_files_are_read_side_by_side_and_answered_in_order(
    session: Session, server: Loopback, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        (workspace.root / name).write_text(name * 3)
    together = threading.Barrier(3, timeout=5)  # broken, and so an error, where one waits for the other
    read = session.toolbox.run

    def run(call: ToolCall, run: ToolRun) -> ToolOutput:
        together.wait()
        return read(call, run)

    monkeypatch.setattr(session.toolbox, "run", run)
    functions = [{"name": "read_file", "arguments": json.dumps({"path": name})} for name in "abc"]
    requested = [
        {"index": number, "id": f"call_{number}", "type": "function", "function": function}
        for number, function in enumerate(functions)
    ]
    server.plays(stream(data(delta(tool_calls=requested)), data(delta("tool_calls")), data("[DONE]")), chat("Read."))
    await turn(session, "read them")
    results = [message for message in asked(server)[-1].json["messages"] if message["role"] == "tool"]
    assert [message["content"] for message in results] == ["aaa", "bbb", "ccc"]


@pytest.mark.parametrize("path", ["../outside.txt", ".palimpsest/config.yaml", "/proc/version", "link.txt", "absent"])
async def test_no_file_outside_the_visible_workspace_is_read(
    session: Session, server: Loopback, workspace: Workspace, path: str
) -> None:
    outside = workspace.root.parent / "outside.txt"
    outside.write_text("canary")
    (workspace.state / "config.yaml").write_text("# canary\n")
    (workspace.root / "link.txt").symlink_to(outside)
    server.plays(calls("read_file", path=path), chat("Well."))
    seen = await turn(session, "read it", lambda _: True)
    assert only(seen, ToolFinished).failed
    assert "canary" not in told(server)["content"]


async def test_a_long_output_is_bounded_for_the_model_and_kept_whole(
    session: Session, server: Loopback, workspace: Workspace
) -> None:
    whole = "".join(f"line {n}\n" for n in range(500))
    (workspace.root / "long.txt").write_text(whole)
    server.plays(calls("read_file", path="long.txt"), chat("Read."))
    finished = only(await turn(session, "read it", lambda _: True), ToolFinished)
    heading, _, shown = told(server)["content"].partition("\n")
    assert heading.startswith(f"[4,390 characters in 500 lines; the whole is {finished.entry}: ")
    assert "Shown: lines 1-12, lines 489-500]" in heading
    assert shown == "".join(f"line {n}\n" for n in range(12)) + "\n" + "".join(f"line {n}\n" for n in range(488, 500))
    assert session.memory.recall(finished.entry)[0].text == whole


async def test_a_note_is_added_only_with_permission(session: Session, server: Loopback, workspace: Workspace) -> None:
    server.plays(
        calls("remember", note="Tea at four."), chat("No."), calls("remember", note="Tea at four."), chat("Yes.")
    )
    await turn(session, "remember", lambda _: False)
    assert "Tea at four" not in workspace.memory_md.read_text()
    await turn(session, "remember", lambda _: True)
    assert "Tea at four" in workspace.memory_md.read_text()


async def test_an_unknown_tool_and_unreadable_arguments_are_told_to_the_model(
    session: Session, server: Loopback
) -> None:
    broken = {"index": 0, "id": "c", "type": "function", "function": {"name": "recall", "arguments": "{oops"}}
    unreadable = stream(data(delta(tool_calls=[broken])), data(delta("tool_calls")), data("[DONE]"))
    server.plays(calls("launch"), unreadable, chat("I see."))
    seen = await turn(session, "go")
    answers = [message["content"] for message in asked(server)[-1].json["messages"] if message["role"] == "tool"]
    assert "There is no tool “launch”" in answers[0]
    assert "no JSON object" in answers[1]
    assert only(seen, AnswerStored).text == "I see."


async def test_a_model_that_never_stops_calling_is_stopped(session: Session, server: Loopback) -> None:
    server.answers_all(lambda _: calls("search_memory", query="x"))
    seen = await turn(session, "go")
    assert only(seen, TurnFailed).code == "too_many_calls"
    assert len(asked(server)) <= 5


async def test_each_request_of_a_turn_begins_with_the_one_before(session: Session, server: Loopback) -> None:
    server.plays(calls("search_memory", query="a"), calls("search_memory", query="b"), chat("Done."))
    await turn(session, "go")
    first, second, third = (post.json["messages"] for post in asked(server))
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [entry.role for entry in await session.branch.history()].count(Role.TOOL) == 2


def _cleared(text: str) -> Any:
    from foundation.privacy import clear

    return clear(text)


def _said(session: Session, *lines: str) -> list[str]:
    conversation = session.memory.cold.new_conversation(_cleared("Old"))
    drafts = [
        EntryDraft(
            conversation=conversation.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=_cleared(line)
        )
        for line in lines
    ]
    return [session.memory.cold.append(draft).id for draft in drafts]


async def test_what_the_search_gives_a_model_is_bounded_at_a_passage(session: Session) -> None:
    _said(session, *(f"Lantern {n * 7919}. " + f"The lantern of hut {n * 104729} is lit. " * 30 for n in range(12)))
    tool = MemorySearch(session.memory, frozenset)
    told = tool.run({"query": "lantern hut"}, UNSTOPPED)
    assert estimate(told) < MAX_RESULT_TOKENS + 100
    found = json.loads(told)
    assert found["more"] == "More was found: ask for it in narrower words."
    assert all("lantern" in passage["found_by"] for passage in found["passages"])


async def test_a_model_that_searches_is_told_what_was_superseded(session: Session) -> None:
    old, new = _said(session, "My phone number is 555-0142.", "My phone number is 555-0199.")
    told = MemorySearch(session.memory, frozenset).run({"query": "phone number"}, UNSTOPPED)
    assert told.index("0199") < told.index("0142")
    passages = {passage["ref"]: passage for passage in json.loads(told)["passages"]}
    assert passages[old]["superseded_by"] == new and passages[old]["trust"] == "exact"


async def test_a_search_for_what_is_in_view_says_where_it_is(session: Session) -> None:
    (said,) = _said(session, "The greenhouse key hangs in the blue tin.")
    in_view = frozenset({session.memory.conversations.find_entry(said).seq})
    search = MemorySearch(session.memory, lambda: in_view)
    told = search.run({"query": "greenhouse key"}, UNSTOPPED)
    assert told == "All that is remembered on this is in this conversation."
    assert search.run({"query": "submarine owner"}, UNSTOPPED) == "Nothing relevant is remembered."


async def test_memory_is_asked_while_the_message_is_stored_and_esc_ends_the_waiting(
    session: Session, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    _said(session, "The ferry to Hydra leaves at seven from gate E8.")
    order, go = list[str](), threading.Event()
    query, append = session.memory.search.query, session.memory.cold.append

    def slow(asked: Query) -> SearchResults:
        order.append("search")
        go.wait(20)
        return query(asked)

    def stored(draft: EntryDraft) -> Entry:
        order.append("stored")
        return append(draft)

    monkeypatch.setattr(session.memory.search, "query", slow)
    monkeypatch.setattr(session.memory.cold, "append", stored)
    waits = Prefetch.wait

    def long(ahead: Prefetch, _: float) -> PrefetchResult | None:
        return waits(ahead, 60)  # longer than a test may take

    monkeypatch.setattr(Prefetch, "wait", long)
    events = session.send("Which gate does the ferry to Hydra leave from?")
    seen: list[Any] = []
    async for event in events:
        seen.append(event)
        if isinstance(event, UserStored):
            asyncio.get_running_loop().call_later(0.3, session.stop)
    go.set()
    assert set(order) == {"search", "stored"}
    assert isinstance(seen[-1], Stopped)
    assert asked(server) == []
