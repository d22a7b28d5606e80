"""A model searches memory for what its own conversation showed and no longer shows."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.events import AnswerStored
from agent.session import Session
from agent.tools.port import ToolSettings
from context.settings import ContextSettings
from foundation.paths import Workspace
from memory.origin import DERIVED_FROM
from models.settings import ModelSettings
from tests.agent.sessions import asked, calls, only, open_session, told, turn
from tests.loopback import Loopback, chat

FILES = 11
WHOLE = "All that is remembered on this is in this conversation."


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    project = tmp_path / "project"
    project.mkdir()
    for n in range(FILES):
        lines = [f"plank_{n}_{k} = {k}" for k in range(150)]
        (project / f"hull_{n}.txt").write_text("\n".join([*lines[:75], f"The keel of ship {n} is larch.", *lines[75:]]))
    (project / "long.txt").write_text("x = 1\n" * 2_000 + "The mast is spruce.\n" + "x = 1\n" * 2_000)
    opened = open_session(
        workspace,
        tmp_path,
        server,
        project=(project,),
        models=ModelSettings(tools=True, window=60_000, retries=0),
        tools=ToolSettings(sandbox=False),
        context=ContextSettings(working_tokens=30_000, recall=False),
    )
    yield opened
    await opened.close()


async def search(session: Session, server: Loopback, query: str) -> list[str]:
    """The texts that `memory_search` gives the model; none where it is told that it sees all."""
    server.plays(calls("memory_search", query=query), chat("Found."))
    await turn(session, "Look it up.")
    found = str(told(server)["content"])
    return [] if WHOLE in found else [passage["text"] for passage in json.loads(found)["passages"]]


async def test_a_result_that_became_a_line_is_found(session: Session, server: Loopback) -> None:
    server.plays(*(calls("read_file", path=f"hull_{n}.txt") for n in range(FILES)), chat("Read."))
    await turn(session, "Read every hull.")
    texts = await search(session, server, "keel of ship 0")
    assert any("The keel of ship 0 is larch." in text for text in texts)
    shown = [str(message["content"]) for message in asked(server)[-2].json["messages"] if message["role"] == "tool"]
    assert "no longer in view" in shown[0], "this tests nothing where the result left the branch"


async def test_what_was_cut_from_a_result_is_found(session: Session, server: Loopback) -> None:
    server.plays(calls("read_file", path="long.txt"), chat("Read."))
    await turn(session, "Read the long file.")
    assert any("The mast is spruce." in text for text in await search(session, server, "what wood is the mast"))


async def test_a_result_that_is_told_whole_is_not_found_again(session: Session, server: Loopback) -> None:
    server.plays(calls("read_file", path="hull_3.txt"), chat("Read."))
    await turn(session, "Read hull 3.")
    assert await search(session, server, "keel of ship 3") == []


async def test_a_result_is_found_by_what_its_call_did(session: Session, server: Loopback, tmp_path: Path) -> None:
    for n, name in enumerate(("lantern", "harbour", "mailer", "ferry")):
        values = "".join(f"limit_{k} = {k * n}\n" for k in range(400))
        (tmp_path / "project" / f"{name}_settings.txt").write_text(values + f"port = {n}111\n")
        server.plays(calls("read_file", path=f"{name}_settings.txt"), chat("Read."))
        await turn(session, f"Read file {n}.")
    texts = await search(session, server, "port in the mailer settings")
    assert "port = 2111" in texts[0]


async def test_a_result_tells_what_was_observed_of_it(session: Session, server: Loopback, tmp_path: Path) -> None:
    filler = "\n".join(f"Images of ship {n} were slow to load." for n in range(120))
    record = (
        f"# Building images\n\n## Context\n\n{filler}\n\n## Decision\n\nWe use Buildah 8.17.\n\n## Then\n\n{filler}\n"
    )
    (tmp_path / "project" / "adr_3.md").write_text(record)
    server.plays(calls("read_file", path="adr_3.md"), chat("Read."))
    await turn(session, "Read the record.")
    await session.background.idle()
    server.plays(calls("memory_search", query="what did we choose for building images"), chat("Found."))
    await turn(session, "Look it up.")
    (passage,) = json.loads(str(told(server)["content"]))["passages"]
    assert "Buildah" not in passage["text"], "this tests nothing where the excerpt has the answer"
    assert passage["noted"] == "adr_3.md: Building images: We use Buildah 8.17."


async def test_an_answer_that_repeats_what_was_observed_is_no_evidence(
    session: Session, server: Loopback, tmp_path: Path
) -> None:
    filler = "\n".join(f"Images of ship {n} were slow to load." for n in range(120))
    (tmp_path / "project" / "adr_3.md").write_text(
        f"# Building images\n\n{filler}\n\n## Decision\n\nWe use Buildah 8.17.\n\n{filler}\n"
    )
    server.plays(calls("read_file", path="adr_3.md"), chat("Read."))
    await turn(session, "Read the record.")
    await session.background.idle()
    server.plays(
        calls("memory_search", query="what did we choose for building images"),
        chat("It is Buildah 8.17 that you use for images."),
    )
    answered = only(await turn(session, "Look it up."), AnswerStored)
    assert DERIVED_FROM in session.memory.conversations.find_entry(answered.entry).meta
