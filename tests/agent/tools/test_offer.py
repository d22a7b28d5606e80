"""What a model is offered follows from the folder, the message, the model's size and a setting."""

from itertools import pairwise
from pathlib import Path

import pytest

from agent.session import Session
from agent.tools.offer import is_project, mentions_files, wants_note, wants_search
from agent.tools.port import ToolPurpose
from agent.tools.settings import ToolSettings
from context import Turn
from foundation.paths import Workspace
from models.chat.port import Profile
from models.settings import ModelSettings, ProfileOverride
from models.tokens import Estimate, tool_tokens
from tests.agent.sessions import asked, open_session, turn
from tests.loopback import Loopback, chat

MEMORY = ["memory_search", "recall", "remember"]
FILES = ["edit_file", "find_files", "read_file", "run_command", "search_files", "write_file"]


def profile(*, small: bool | None = None, remote: bool = False, text: bool = False) -> Profile:
    return Profile(
        spec="openai:m", name="m", window=32_768, tools=not text, text_tools=text, small=small, remote=remote
    )


def names(session: Session, text: str, model: Profile) -> list[str]:
    fitting, *_ = session.offer.of_turn(Turn(text=text), model)
    return [tool.name for tool in fitting.offered]


def test_a_folder_is_a_project_if_it_holds_what_no_workspace_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, empty, notes, repository = (tmp_path / name for name in ("w", "empty", "notes", "repository"))
    for folder in (workspace, empty, notes, repository / ".git"):
        folder.mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("# Memory\n")
    (notes / "a.txt").write_text("seven\n")
    (empty / ".hidden").write_text("")
    assert [is_project(folder, workspace) for folder in (workspace, empty, notes, repository)] == [
        False,
        False,
        True,
        True,
    ]
    assert not is_project(tmp_path / "absent", workspace)
    (workspace / "a.txt").write_text("seven\n")
    assert is_project(workspace, workspace)
    monkeypatch.setenv("HOME", str(notes))
    assert not is_project(notes, workspace) and not is_project(tmp_path, workspace)


async def test_outside_a_project_there_is_memory_and_in_one_files_and_commands(
    workspace: Workspace, tmp_path: Path
) -> None:
    (project := tmp_path / "project").mkdir()
    session = open_session(workspace, tmp_path, project=[project])
    assert names(session, "hello", profile()) == MEMORY
    assert names(session, "Create a file hello.py that prints hi.", profile()) == sorted(FILES + MEMORY)
    (project / "a.py").write_text("print(1)\n")
    assert names(session, "hello", profile()) == sorted(FILES + MEMORY)
    assert {"delegate", "update_plan", "ask_user"} <= set(names(session, "hello", profile(small=False)))
    assert {"delegate", "update_plan", "ask_user"} <= set(names(session, "hello", profile(remote=True)))
    await session.close()


@pytest.mark.parametrize(("offer", "count"), [("memory", 3), ("project", 9), ("all", 15)])
async def test_a_setting_says_what_is_offered(workspace: Workspace, tmp_path: Path, offer: str, count: int) -> None:
    session = open_session(workspace, tmp_path, tools=ToolSettings(offer=offer))  # pyright: ignore[reportArgumentType]  # a parameter's values
    assert len(names(session, "hello", profile())) == count
    await session.close()


async def test_what_a_message_needs_is_offered_from_then_on_and_a_look_changes_nothing(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    (project := tmp_path / "project").mkdir()
    settings = ModelSettings(tools=True, retries=0)
    session = open_session(workspace, tmp_path, server, models=settings, project=[project])
    server.answers_all(lambda _: chat("Good."))
    await turn(session, "hello")
    await session.context_report("Which files are in this folder?")
    for text in ("How are you?", "Which files are in this folder?", "Thank you."):
        await turn(session, text)
    offered = [[tool["function"]["name"] for tool in request.json["tools"]] for request in asked(server)]
    assert offered == [MEMORY, MEMORY, sorted(FILES + MEMORY), sorted(FILES + MEMORY)]
    await session.close()


@pytest.mark.parametrize(
    ("text", "files", "note"),
    [
        ("hello", False, False),
        ("你好", False, False),
        ("What is 17 times 23?", False, False),
        ("Write a haiku about rain.", False, False),
        ("Why is the sky blue?", False, False),
        ("谢谢你的帮助", False, False),
        ("Read notes.txt and tell me the deadline.", True, False),
        ("Run `date` and tell me the year.", True, False),
        ("列出这个文件夹里的文件。", True, False),
        ("Remember that my sister's birthday is 14 March.", False, True),
        ("记住：我的护照在蓝色抽屉里。", False, True),
        ("What did I say about the greenhouse key?", False, False),
    ],
)
def test_a_message_speaks_of_files_or_of_a_note(text: str, files: bool, note: bool) -> None:
    assert (mentions_files(text), wants_note(text)) == (files, note)


@pytest.mark.parametrize(
    ("text", "search"),
    [
        ("Search my notes for the boiler.", True),
        ("在笔记里搜索锅炉", True),
        ("What did I say last week?", False),
        ("Find notes.txt", False),
    ],
)
def test_a_message_wants_a_search_of_memory(text: str, search: bool) -> None:
    assert wants_search(text) == search


async def test_a_small_model_gets_the_list_of_tools_with_the_message_that_needs_it_and_none_with_a_greeting(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    (project := tmp_path / "project").mkdir()
    (project / "notes.txt").write_text("The deadline is in May.\n")
    settings = ModelSettings(retries=0, profiles={"m": ProfileOverride(small=True, tools="text")})
    session = open_session(workspace, tmp_path, server, models=settings, project=[project])
    server.answers_all(lambda _: chat("Good."))
    for text in ("hello", "Read notes.txt.", "And what is in other.txt?", "Search my notes for tea."):
        await turn(session, text)
    bodies = [request.json for request in asked(server)]
    assert not any("tools" in body for body in bodies)
    sent = [body["messages"][-1]["content"] for body in bodies]
    assert "read_file" not in bodies[0]["messages"][0]["content"] + sent[0]
    assert "read_file(path)" in sent[1] and sent[1].endswith("Read notes.txt.")
    assert "read_file" not in sent[2]  # a message in view lists it
    assert "memory_search(query?" in sent[3] and "recall(" not in sent[3]
    for before, after in pairwise(bodies):  # the prompt only grows
        assert after["messages"][: len(before["messages"])] == before["messages"]
    await session.close()


async def test_a_server_that_refuses_tools_within_a_turn_still_gets_them_in_text(
    workspace: Workspace, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path, tools=ToolSettings(offer="all"))
    fitting, stated, _ = session.offer.of_turn(Turn(text="hello"), profile(text=True))
    assert stated == {tool.name for tool in fitting.offered}  # not small: each conversation lists them once
    await session.close()


async def test_the_definitions_stay_small(workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path, tools=ToolSettings(offer="all"))
    definitions = session.toolbox.definitions
    assert tool_tokens(definitions, Estimate()) <= 1_500
    assert tool_tokens(session.toolbox.offered(profile(), {ToolPurpose.MEMORY}), Estimate()) <= 330
    await session.close()


async def test_a_written_call_of_a_tool_that_was_not_offered_is_corrected(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    (project := tmp_path / "project").mkdir()
    session = open_session(workspace, tmp_path, server, models=ModelSettings(tools=True, retries=0), project=[project])
    server.plays(chat('{"name": "run_command", "arguments": {"command": "touch made.txt"}}'), chat("Hello."))
    await turn(session, "hello")
    correction = asked(server)[1].json["messages"][-1]["content"]
    assert "“run_command” is not offered here. The tools are: memory_search, recall, remember." in correction
    assert list(project.iterdir()) == []
    await session.close()
