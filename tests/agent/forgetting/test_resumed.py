"""A forgetting that was cut short and goes on: its receipt is printed, and names all that is left."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.cli.launch import LaunchOptions
from agent.config.config import load_config
from agent.services.forget import finish_pending, forgetting, plan
from agent.services.forget_receipt import receipt_lines
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.cold.answers import AnswerWriter
from memory.errors import StoreBusy
from memory.forgotten.journal import ForgetJournal
from memory.memory import Memory
from memory.records import Conversation, Entry, EntryDraft, EntryKind
from models.messages import Role
from tests.agent.conftest import Run
from tests.agent.forgetting.entrances import MARK
from tests.memory.forget.bytes_of import places_of
from tui.session_opener import Opening

pytestmark = pytest.mark.timeout(60)

FINISHED = "Finished the deletion that was begun on "
LEFT = "Not changed, because this file is your own: AGENTS.md."


@pytest.fixture
def cut_short(run: Run, root: Path) -> Path:
    """A workspace in which a process was killed as soon as its forgetting was written down."""
    (root / "AGENTS.md").write_text(f"# Rules\n\n- about {MARK}\n", "utf-8")
    run("remember", f"The code is {MARK}-7731.")
    run("-p", f"The code of the door is {MARK}-7731.")
    command = [sys.executable, "-m", "tests.agent.forgetting.forget_and_wait", str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGKILL)
    assert ForgetJournal(root / ".palimpsest" / "forgotten").open_ids()
    return root


def test_forget_prints_the_receipt_of_what_it_goes_on_with(run: Run, cut_short: Path) -> None:
    done = run("forget")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0].startswith(FINISHED)
    assert lines[1].startswith("Forgotten: 2 entries")
    assert LEFT in lines
    assert "AGENTS.md" in places_of(cut_short, [MARK])
    again = run("forget").out
    assert again.startswith("No deletion is in progress")
    assert "The last deletion was begun on " in again
    assert LEFT in again


def test_the_receipt_is_in_the_json(run: Run, cut_short: Path) -> None:
    assert run("forget", "--dry-run").status == 75
    assert ForgetJournal(cut_short / ".palimpsest" / "forgotten").open_ids(), "a dry run changes nothing"
    shown = run("forget", "--json").json
    assert (shown["receipt"]["left"], shown["resumed"]) == (["AGENTS.md"], [shown["receipt"]])
    assert LEFT in shown["receipt"]["sentences"]
    later = run("forget", "--json").json
    assert (later["receipt"], later["resumed"]) == (shown["receipt"], [])


@pytest.mark.parametrize("words", [("search", "boilers"), ("-p", "Hello"), ("forget", "e_0000000000ab", "--yes")])
def test_another_command_that_finishes_it_tells_so(run: Run, cut_short: Path, words: tuple[str, ...]) -> None:
    done = run(*words)
    (line,) = (line for line in done.err.splitlines() if FINISHED in line)
    assert LEFT in line
    assert "forget` shows its receipt." in line
    assert FINISHED not in done.out


def test_the_chat_tells_so_at_its_start(cut_short: Path) -> None:
    space = Workspace(cut_short)
    opening = Opening(LaunchOptions(workspace=space, config=load_config(space, os.environ, {}).config))
    session = opening.open_session()
    (warning,) = (said for said in session.jobs.take_warnings() if FINISHED in said)
    assert LEFT in warning
    session.memory.close()


def test_an_empty_name_is_refused(run: Run) -> None:
    for words in ([""], [" "], ["--conversation", ""], ["--before", ""], ["", "--before", "2020"]):
        refused = run("forget", *words, "--yes")
        assert (refused.status, "is empty" in refused.err) == (2, True), words
    bare = run("forget")
    assert (bare.status, "No deletion is in progress" in bare.out) == (0, True)
    assert "The last one" not in bare.out
    as_json = run("forget", "--json").json
    assert (as_json["receipt"], as_json["resumed"]) == (None, [])


# ── answers that were on their way ──


def said(memory: Memory, conversation: Conversation, parent: int | None, role: Role, text: str) -> Entry:
    return memory.conversations.append(draft_of(conversation, parent, role, text))


def draft_of(conversation: Conversation, parent: int | None, role: Role, text: str = "") -> EntryDraft:
    kind = EntryKind.TOOL_RESULT if role is Role.TOOL else EntryKind.MESSAGE
    return EntryDraft(conversation=conversation.seq, parent=parent, kind=kind, role=role, text=clear(text))


def stopped_at(step: str, meanwhile: Callable[[], object]) -> Callable[[str], None]:
    def on_step(name: str) -> None:
        if name == step:
            meanwhile()

    return on_step


@pytest.mark.parametrize("step", ["tombstones", "names", "database"])
def test_an_answer_to_a_message_from_before_goes_too(workspace: Workspace, step: str) -> None:
    """It begins while the job runs, and has no words until the process has given up."""
    memory = Memory.open(workspace, SystemClock())
    talk = memory.conversations.new()
    asked = said(memory, talk, None, Role.USER, "The code is zqbluefin-7731.")
    answers: list[AnswerWriter] = []

    def begin() -> None:
        if not answers:
            answers.append(memory.conversations.begin_answer(draft_of(talk, asked.seq, Role.ASSISTANT)))

    forgets = forgetting(memory)
    assert step in forgets.steps
    job = forgets.begin(plan(memory, named="zqbluefin"))
    with pytest.raises(StoreBusy):
        forgets.run(job, stopped_at(step, begin))
    answers[0].write(clear("Noted: zqbluefin-7731."))
    first = answers[0].finish(clear("Noted: zqbluefin-7731."))
    result = said(memory, talk, first.seq, Role.TOOL, "zqbluefin.txt is there.")
    said(memory, talk, result.seq, Role.ASSISTANT, "I have read zqbluefin.txt.")
    (done,) = finish_pending(memory).over
    assert not any("because it was written after the start:" in line for line in receipt_lines(memory, done))
    memory.close()
    assert places_of(workspace.root, ["zqbluefin"]) == {}


def test_what_the_person_says_meanwhile_and_its_answer_stay_and_are_named(workspace: Workspace) -> None:
    memory = Memory.open(workspace, SystemClock())
    talk = memory.conversations.new()
    asked = said(memory, talk, None, Role.USER, "The code is zqbluefin-7731.")
    job = forgetting(memory).begin(plan(memory, named="zqbluefin"))
    again = said(memory, talk, asked.seq, Role.USER, "The new code is zqbluefin-8842.")
    answer = said(memory, talk, again.seq, Role.ASSISTANT, "Noted: zqbluefin-8842.")
    notices: list[str] = []
    (done,) = finish_pending(memory, notices.append).over
    assert done.id == job.id
    named = f"because it was written after the start: {again.id}, {answer.id}."
    assert any(named in line for line in receipt_lines(memory, done))
    assert named in notices[0]
    assert memory.passage(memory.cold.entry(answer.seq)).text == "Noted: zqbluefin-8842."
    memory.close()


def test_the_receipt_names_conversations_that_say_the_same(workspace: Workspace) -> None:
    memory = Memory.open(workspace, SystemClock())
    same = "The boiler was serviced in May by the same firm as last year."
    talks = [memory.conversations.new(clear(title)) for title in ("One", "Another")]
    asked, _ = (said(memory, talk, None, Role.USER, same) for talk in talks)
    forgetting(memory).begin(plan(memory, named=asked.id))
    (done,) = finish_pending(memory).over
    stays = f"Kept: the same text, or parts of it, in “Another” ({talks[1].id})."
    assert stays in receipt_lines(memory, done)
    memory.close()
