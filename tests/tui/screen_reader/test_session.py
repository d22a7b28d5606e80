"""The chat in lines in a real terminal, with the real memory and no model."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from foundation.paths import Workspace
from memory.upkeep.state import read_state
from tests.paths import ROOT
from tests.tui.screen_reader.lines import Start, answer, until, written

pytestmark = [
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(60),
]

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal


@pytest.mark.parametrize(("value", "is_linear"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_accessible_in_the_environment_asks_for_lines(start: Start, value: str, is_linear: bool) -> None:
    chat = start(ACCESSIBLE=value)
    until(chat, "Screen-reader mode is on, by ACCESSIBLE in the environment." if is_linear else "\x1b[?1049h")


def test_the_flag_goes_before_the_environment(start: Start) -> None:
    until(start("--no-screen-reader"), "\x1b[?1049h")
    until(start("--screen-reader", ACCESSIBLE="0"), "Screen-reader mode is on, by the flag --screen-reader.")
    until(start(ACCESSIBLE="0", PALIMPSEST_SCREEN_READER="on"), "is on, by the setting screen.reader.")


def test_a_workspace_from_elsewhere_is_trusted_only_on_a_word(start: Start, tmp_path: Path) -> None:
    first = start("--screen-reader")
    until(first, "You: ")
    first.type("A message.\r")
    until(first, "You: ", 2)
    first.type("\x04")
    first.ended()
    shutil.copytree(tmp_path / "notes", tmp_path / "copied")
    chat = start("--workspace", str(tmp_path / "copied"))
    until(chat, "1: trust it\n2: read only\nAnswer, 1 to 2; Enter alone is 2, read only: ")
    answer(chat, "perhaps")
    until(chat, "That is not one of the answers.")
    chat.type("\r")
    text = until(chat, "You: ")
    assert "Question: This workspace was not made here." in text
    chat.type("Kept?\r")
    until(chat, "Error: ")
    trusting = start("--workspace", str(tmp_path / "copied"))
    until(trusting, "Enter alone is 2, read only: ")
    answer(trusting, "trust it")
    until(trusting, "You: ")
    trusting.type("Kept?\r")
    until(trusting, "End of answer.")


def test_a_question_mark_alone_asks_for_help_and_not_the_model(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("?\r")
    assert "/recall" in until(chat, "You: ", 2)


@pytest.mark.parametrize("pasted", ["1\r", "trust it\r", "1\rmore\r"])
def test_a_paste_answers_no_question(start: Start, tmp_path: Path, pasted: str) -> None:
    first = start()
    until(first, "You: ")
    first.type("\x04")
    first.ended()
    shutil.copytree(tmp_path / "notes", tmp_path / "copied")
    chat = start("--workspace", str(tmp_path / "copied"))
    until(chat, "Enter alone is 2, read only: ")
    chat.type(pasted)
    until(chat, "Pasted text cannot answer a question. It was added to your next message.")
    until(chat, "Enter alone is 2, read only: ", 2)
    chat.type("\r")
    until(chat, "You: " + pasted.rstrip("\r").replace("\r", "␤"))
    assert "read-only" in written(chat).lower() or "not made here" in written(chat)
    chat.type("\r")
    until(chat, "Error: ")  # it is not trusted


def test_ctrl_c_ends_a_question_at_once(start: Start, tmp_path: Path) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("The boiler is serviced by Hansen.\r")
    until(chat, "End of answer.\nYou: ")
    chat.type("/tree\r")
    until(chat, "Enter alone cancels: ")
    chat.settle(0.3)
    begun = time.monotonic()
    chat.type("\x03")
    until(chat, "You: ", 3)
    assert time.monotonic() - begun < 0.9


def test_what_was_typed_before_a_question_answers_nothing(start: Start, tmp_path: Path) -> None:
    first = start()
    until(first, "You: ")
    first.type("A message.\r")
    until(first, "You: ", 2)
    first.type("\x04")
    first.ended()
    shutil.copytree(tmp_path / "notes", tmp_path / "copied")
    chat = start("--workspace", str(tmp_path / "copied"))
    chat.type("trust")  # before the question is there, and not entered
    until(chat, "Enter alone is 2, read only: ")
    chat.quiet()
    assert written(chat).endswith("Enter alone is 2, read only: ")
    chat.type("\r")
    until(chat, "You: trust")


def test_a_line_entered_before_the_first_prompt_is_a_message_of_its_own(start: Start) -> None:
    chat = start()
    chat.type("Seagulls like ships.\r")  # the program only starts
    until(chat, "End of answer.")
    until(chat, "You: ")
    chat.type("What do seagulls like?\r")
    text = until(chat, "End of answer.", 2)
    assert "Seagulls like ships.What" not in text and "Seagulls like ships." in text.partition("What do seagulls")[2]


def test_what_upkeep_has_to_say_is_a_notice_before_the_next_line(start: Start, tmp_path: Path) -> None:
    chat = start(PALIMPSEST_DISK_FREE_MB="1000000000")
    until(chat, "You: ")
    limit = time.monotonic() + 30
    while not (state := read_state(Workspace(tmp_path / "notes"))).warned_ms or state.unshown:
        assert time.monotonic() < limit, "the chat takes the warning within some seconds"
        chat.settle(0.2)
    chat.type("/jobs\r")
    until(chat, "Notice: Only ")
    until(chat, "free on the workspace's disk")


def test_nothing_that_was_written_changes_while_an_answer_comes(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("!sleep 2; echo slept\r")
    chat.settle(0.8)
    chat.type("a mistake\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f/rename Later\r")
    text = until(chat, "Queued: 1 message waiting. The last: /rename Later\n")
    assert text.count("/rename") == 1  # not written as it was typed
    until(chat, "slept\nCommand ended: exit 0")
    until(chat, "\nYou: /rename Later\n")
    until(chat, "\nYou: ", 2)
    chat.quiet()
    assert b"\x08" not in chat.bytes
    assert b"\x1b" not in chat.bytes
    assert b"\r" not in chat.bytes.replace(b"\r\n", b"")


def test_a_harmless_command_is_answered_during_an_answer(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("!sleep 3; echo slept\r")
    chat.settle(0.8)
    chat.type("/status\r")
    text = until(chat, "model: ")
    assert "\nYou: /status\n" in text
    assert "Queued" not in text
    assert "\nslept" not in text
    until(chat, "\nslept\nCommand ended: exit 0")


def test_enter_alone_opens_a_line_during_an_answer(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("!sleep 2; echo slept\r")
    chat.settle(0.8)
    chat.type("\r")
    until(chat, "Next: ")
    chat.type("/status")
    chat.settle(2.5)
    assert written(chat).endswith("Next: /status")
    chat.type("\r")
    until(chat, "Next: /status\nslept\nCommand ended: exit 0")
    until(chat, "model: ")


def test_ctrl_c_stops_what_runs_and_returns_what_waits(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("!sleep 600\r")
    chat.settle(0.8)
    chat.type("later\r")
    until(chat, "Queued: 1 message waiting. The last: later")
    chat.type("\x03")
    until(chat, "Stopping.")
    until(chat, "You: later")


def test_after_a_stop_a_command_and_a_message_come_back_one_by_one(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("!sleep 600\r")
    chat.settle(0.8)
    chat.type("!echo ran\r")
    until(chat, "Queued: 1 message waiting. The last: !echo ran")
    chat.type("later\r")
    until(chat, "Queued: 2 messages waiting. The last: later")
    chat.type("\x03")
    until(chat, "2 messages not sent. Back in the prompt. One prompt has one of them")
    until(chat, "You: !echo ran")
    chat.type("\r")
    until(chat, "ran\nCommand ended: exit 0")
    until(chat, "You: later")


def test_the_history_has_messages_of_several_lines(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("/find one\\\r")
    until(chat, "More: ")
    chat.type("two\r")
    until(chat, "\nYou: ")
    chat.type("\x1b[A")
    until(chat, "You: /find one␤two")


def test_pasted_lines_are_one_message_that_enter_sends(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("The boiler\r/exit\r!echo ran\r")
    until(chat, "Pasted: 3 lines. Enter sends it, Ctrl+C removes it.\nYou: The boiler␤/exit␤!echo ran")
    chat.quiet()
    assert "End of answer." not in written(chat)
    chat.type("\r")
    until(chat, "End of answer.")
    until(chat, "You: ", 3)
    chat.type("\r".join(f"line {number}" for number in range(20)) + "\r")
    until(chat, "You: [Pasted text #1 · 20 lines]")
    chat.type("\r")
    until(chat, "End of answer.", 2)
    until(chat, "You: ", 5)
    chat.type("\x04")
    chat.ended()
    text = until(start("-c"), "End of answer.\nYou: ", 2)
    assert "You: The boiler\n/exit\n!echo ran\nAnswer:" in text
    assert "line 18\nline 19\n" in text


def test_messages_of_several_lines(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type('"""first\r')
    until(chat, "More: ")
    chat.type('second"""\r')
    until(chat, "End of answer.")
    until(chat, "You: ", 2)
    chat.type("third\\\r")
    until(chat, "More: ", 2)
    chat.type("fourth\r")
    until(chat, "End of answer.", 2)
    until(chat, "You: ", 3)
    chat.type("\x04")
    chat.ended()
    text = until(start("-c"), "End of answer.\nYou: ", 2)
    assert "You: first\nsecond\nAnswer:" in text
    assert "You: third\nfourth\nAnswer:" in text


def test_ctrl_l_clears_nothing(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("one\x0c\x1b\x0ctwo")
    until(chat, "You: onetwo")
    assert b"\x1b" not in chat.bytes


@pytest.mark.parametrize(
    ("term", "sequences"), [("xterm", {"[A", "[C", "[K", "[1@", "[1P"}), ("dumb", set[str]())], ids=["xterm", "dumb"]
)
def test_escape_sequences_come_only_from_editing(start: Start, term: str, sequences: set[str]) -> None:
    chat = start(TERM=term)
    until(chat, "You: ")
    chat.type("hello world " * 20)
    chat.quiet()
    assert b"\x1b" not in chat.bytes  # at the end of a line there are none
    chat.type("\x7f" * 80 + "\x01x\x1b[C\x1b[3~\x0b\x15short\x01x\x1b[C\x1b[3~\x05\x1b[D\x7f\x15")
    chat.quiet()
    assert set(re.findall(r"\x1b(\[[0-9;?]*[@-~]|.)", written(chat))) <= sequences
    assert bool(sequences) == (b"\x1b" in chat.bytes)


def test_tab_completes_commands_and_files(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("/hel\t")
    until(chat, "You: /help ")
    chat.type("\x15@pyproj\t")
    until(chat, "@pyproject.toml ")


def test_tab_completes_arguments_and_passages_of_memory(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("The boiler is serviced by Hansen.\r")
    until(chat, "End of answer.")
    until(chat, "You: ", 2)
    chat.type("/mode re\t")
    until(chat, "You: /mode read-only ")
    chat.type("\x15The boiler costs 400 a year.\r")
    until(chat, "You: ", 3)
    chat.type("@mem:boiler\t")
    until(chat, "@mem:boiler:2 The boiler is serviced by Hansen.\n")
    until(chat, "You: @mem:boiler:")
    chat.type("2\t")
    until(chat, " · e_")


def test_a_conversation_is_found_in_and_chosen_by_its_number(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    chat.type("The boiler is serviced by Hansen. 锅炉\r")
    until(chat, "End of answer.\nYou: ")
    chat.type("The 锅炉 costs 400 a year.\r")
    until(chat, "End of answer.\nYou: ", 2)
    chat.type("/find 锅炉\r")
    text = until(chat, "reads it.\nYou: ")
    assert "Found in 2 texts:\nYou, " in text
    assert "1 time: The boiler is serviced by Hansen. 锅炉. /show 2 reads it." in text
    chat.type("/tree\r")
    text = until(chat, "Answer, 1 to 2; Enter alone cancels: ")
    assert "newest of this branch: The 锅炉 costs 400 a year." in text
    answer(chat, "1")
    until(chat, "leaves it: 1\nYou: The boiler is serviced by Hansen. 锅炉\nYou: ")
    chat.type("/new\r")
    until(chat, "New conversation\nYou: ")
    chat.type("/resume\r")
    assert "Conversations:\n1: The boiler is serviced" in until(chat, "Answer, 1; Enter alone cancels: ")
    answer(chat, "1")
    until(chat, "Conversation: The boiler is serviced")


def test_no_text_speaks_of_keys_that_are_not_here(start: Start) -> None:
    chat = start()
    until(chat, "You: ")
    for number, command in enumerate(("/keys", "/help tree", "/help search", "/help", "/mcp"), 2):
        chat.type(f"{command}\r")
        until(chat, "You: ", number)
    text = written(chat)
    assert "Ctrl+R bring back earlier input" in text
    assert "/steer MESSAGE" in text
    for key in ("F1", "F2", "F3", "Ctrl+S", "Ctrl+G", "Esc"):
        assert key not in text, key


def test_the_bell_rings_at_the_end_of_an_answer_where_it_is_set(start: Start) -> None:
    chat = start(PALIMPSEST_SCREEN_NOTIFY="bell")
    until(chat, "You: ")
    chat.type("Hello.\r")
    until(chat, "End of answer.\n\x07")


def test_textual_is_never_loaded(tmp_path: Path) -> None:
    code = (
        "import sys; from tui.main import open_screen; from agent.cli import main;"
        "main(open_screen, sys.argv[1:]);"
        "print('loaded:', [n for n in ('textual', 'tui.chat') if n in sys.modules])"
    )
    words = ("-c", code, "--workspace", str(tmp_path / "notes"), "--screen-reader")
    chat = Terminal(*words, program=(sys.executable,), columns=200)
    try:
        until(chat, "You: ")
        chat.type("Hello.\r")
        until(chat, "End of answer.")
        until(chat, "You: ", 2)
        for number, command in enumerate(("/help", "/stats", "/settings", "/context", "/search boiler"), 3):
            chat.type(f"{command}\r")
            until(chat, "You: ", number)
        chat.type("/tree\r")
        until(chat, "Enter alone cancels: ")
        chat.type("\r")
        until(chat, "You: ", 8)
        chat.type("\x04")
        until(chat, "loaded: []")
    finally:
        chat.close()


def test_the_modules_load_no_textual() -> None:
    code = (
        "import sys, importlib, pathlib;"
        "modules = [p.stem for p in pathlib.Path('tui/screen_reader').glob('*.py')];"
        "[importlib.import_module(f'tui.screen_reader.{name}') for name in modules];"
        "print('textual' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.strip() == "False"
