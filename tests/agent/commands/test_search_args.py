"""`/search` with the options of the command line."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import Choices, CommandFailed, OpenSearch, TextResult
from agent.commands.search_args import parse_search
from agent.session import Session
from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.agent.sessions import open_session


@pytest.mark.parametrize(
    ("typed", "filters"),
    [
        ("--type decision boiler", 'type:"decision" boiler'),
        ('boiler --entity "Anna Smith" --file=a.py', 'entity:"Anna Smith" file:"a.py" boiler'),
        ('--around best "the boiler"', 'around:"best" "the boiler"'),
    ],
)
def test_what_only_narrows_is_the_screens_filters(typed: str, filters: str) -> None:
    wanted = parse_search(typed)
    assert wanted is not None
    assert wanted.filters == filters


def test_what_has_no_option_is_a_question() -> None:
    assert parse_search("a well-known -gas boiler -- or so") is None


def test_flags_take_no_word() -> None:
    wanted = parse_search("--exact gas boiler -k 3 --newest")
    assert wanted is not None
    assert (wanted.text, wanted.options) == ("gas boiler", {"exact": True, "newest": True, "limit": 3})
    assert wanted.filters is None


@pytest.mark.parametrize("typed", ["--colour red", "--type", "x -k many"])
def test_what_cannot_be_is_said(typed: str) -> None:
    with pytest.raises(Misuse):
        parse_search(typed)


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    yield opened
    await opened.close()


def told(session: Session) -> None:
    conversation = session.memory.cold.new_conversation(as_given("House"), id="house")
    for text in ("the boiler hums", "the gas boiler broke"):
        session.memory.cold.append(
            EntryDraft(
                conversation=conversation.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=as_given(text)
            )
        )


async def test_the_command_prints_lists_and_opens_the_screen(session: Session) -> None:
    told(session)
    assert isinstance(await registry.run(session, "/search --type decision"), OpenSearch)
    helped = await registry.run(session, "/search --help")
    assert isinstance(helped, TextResult)
    assert "--around best" in helped.markdown
    latest = await registry.run(session, "/search --recent")
    assert isinstance(latest, TextResult)
    assert latest.markdown.startswith("**House**")
    exact = await registry.run(session, "/search --exact gas boiler")
    assert isinstance(exact, Choices)
    assert [item.label for item in exact.items] == ["the gas boiler broke"]
    around = await registry.run(session, "/search --around best --before 1 gas")
    assert isinstance(around, TextResult)
    assert "→" in around.markdown
    nothing = await registry.run(session, "/search --exact zeppelin")
    assert isinstance(nothing, TextResult)
    assert isinstance(await registry.run(session, "/search --colour red"), CommandFailed)
