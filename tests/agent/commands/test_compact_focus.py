"""`/compact WORDS` in a session: what the words mean, and that a model is told them."""

from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.archive import CompactArguments, compact_arguments
from agent.commands.results import CommandFailed, Proposal, TextResult
from agent.session import Session
from context.settings import ContextSettings
from foundation.errors import Misuse
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import asked, open_session, turn
from tests.loopback import Loopback, chat, varied

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long
SETTINGS = ModelSettings(window=20_000, tools=False, retries=0)


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("", CompactArguments()),
        ("the parser", CompactArguments(focus="the parser")),
        ("--yes the parser", CompactArguments(focus="the parser", sure=True)),
        ("the parser --label Spring plans --yes", CompactArguments("the parser", "Spring plans", sure=True)),
        ('--label="Spring plans" --yes', CompactArguments("", "Spring plans", sure=True)),
        ("锅炉 阀门 --label 春天", CompactArguments("锅炉 阀门", "春天")),
        ("--undo", CompactArguments(undo=True)),
    ],
)
def test_words_are_the_focus_and_the_label_has_its_option(line: str, arguments: CompactArguments) -> None:
    assert compact_arguments(line) == arguments


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("--older-than 3y", "but not --older-than"),
        ("the parser --label", "--label needs"),
        ("--undo the parser", "/compact --undo undoes the latest compaction"),
        ("parser " * 40, "the maximum is 200"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(line: str, why: str) -> None:
    with pytest.raises(Misuse, match=why):
        compact_arguments(line)


async def compact(session: Session, line: str) -> str:
    proposal = await registry.run(session, line)
    assert isinstance(proposal, Proposal), proposal.error if isinstance(proposal, CommandFailed) else proposal
    done = await registry.carry_out(proposal, lambda _: None)
    assert isinstance(done, TextResult)
    return done.markdown


async def talked(session: Session, server: Loopback) -> None:
    for number in range(8):
        about = "The boiler needs valve V-77 in March. " if number == 2 else ""
        server.answers_all(lambda _, about=about: chat(about + varied("More of the garden and its beds. ", 60)))
        await turn(session, f"Question {number}")


async def test_the_preview_the_receipt_and_the_request_have_the_focus(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path, server, models=SETTINGS)
    await talked(session, server)
    proposal = await registry.run(session, "/compact the boiler --label Spring plans")
    assert isinstance(proposal, Proposal)
    assert ("keeps", "focused on “the boiler”") in proposal.rows and ("label", "Spring plans") in proposal.rows
    done = await registry.carry_out(proposal, lambda _: None)
    assert isinstance(done, TextResult)
    assert "about “the boiler”" in done.markdown and "archived as “Spring plans”" in done.markdown
    await turn(session, "And now?")
    (summary,) = [m["content"] for m in asked(server)[-1].json["messages"] if "palimpsest-summary" in str(m["content"])]
    assert "The boiler needs valve V-77 in March." in summary and "Focus: the boiler" in summary
    await session.close()


async def test_a_model_that_writes_the_summary_is_told_the_focus(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    settings = ContextSettings(summary_model=f"openai:writer@{server.address}/v1")
    session = open_session(workspace, tmp_path, server, models=SETTINGS, context=settings)
    await talked(session, server)
    server.plays(chat("The boiler needs valve V-77 in March."))
    assert "Summary written by openai:writer" in await compact(session, "/compact the boiler --yes")
    wrote = asked(server)[-1].json
    assert wrote["model"] == "writer" and "most detail: the boiler" in wrote["messages"][0]["content"]
    await session.close()
