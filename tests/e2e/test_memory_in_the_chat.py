"""A chat in a real terminal with a llama.cpp server whose model calls the memory tools and repeats what they find."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Palimpsest
from tests.e2e.recording_proxy import RecordingProxy
from tests.servers import Scripted

pytestmark = [
    pytest.mark.slow,
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(240),
]

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal

FACT = "The greenhouse key hangs in the blue tin behind the third tomato pot."
QUESTION = "Where is the greenhouse key?"
CODEWORD = "The codeword of the north gate is heliotrope-42."


def _call(name: str, **arguments: str) -> str:
    body = json.dumps({"name": name, "arguments": arguments})
    return f"Let me see what {name} finds. <tool_call>\n{body}\n</tool_call>"


RULES = (
    ("is_result and 'greenhouse' in message", f"As you said: {FACT}"),
    ("is_result", "It is kept."),
    ("'remember' in message", _call("remember", note="Tea is at four on Thursdays.")),
    ("'greenhouse' in message and '?' in message", _call("memory_search", query="greenhouse key")),
    ("'haiku' in message", "Soft rain on roofs, a cat by stoves, evening slows to tea."),
    ("'hello' in message", "Hello! How can I help?"),
    ("'thanks' in message", "You are welcome!"),
    ("true", "I see. Tell me more."),
)


@pytest.fixture(scope="module")
def address(scripted_llama: Scripted) -> str:
    return scripted_llama(context=20_480, rules=RULES).address


@pytest.fixture
def proxy(address: str) -> Iterator[RecordingProxy]:
    with RecordingProxy(address) as recording:
        yield recording


@pytest.fixture
def chat(tmp_path: Path, proxy: RecordingProxy) -> Iterator["Chat"]:
    opened = Chat(tmp_path, proxy)
    yield opened
    opened.terminal.close()


class Chat:
    """The program at 80×24, and what the server received."""

    def __init__(self, folder: Path, proxy: RecordingProxy) -> None:
        self.proxy = proxy
        model = f"openai:scripted@{proxy.address}/v1"
        self.terminal = Terminal(
            *("--workspace", str(folder / "ws"), "--model", model),
            HOME=str(folder / "home"),
            PALIMPSEST_CONFIG_DIR=str(folder / "user-config"),
            PALIMPSEST_MODELS_WINDOW="19000",
            PALIMPSEST_MODELS_TOOL_CALLS="native",  # the model is tiny, and its script expects them so
            PALIMPSEST_TOOLS_OFFER="all",
            PALIMPSEST_CONTEXT_RECALL_WAIT="30",
        )
        self.terminal.until(lambda text: "❯ Ask" in text, within=60)

    def say(self, text: str, answered: Callable[[str], bool]) -> str:
        """Sends it; the screen once it is answered."""
        self.terminal.type(text)
        self.terminal.settle(0.2)
        self.terminal.type("\r")
        return self.terminal.until(
            lambda screen: answered(screen) and screen.rstrip().endswith(("tok/s", ")", "next message")), within=60
        )

    def begin(self) -> None:
        self.terminal.type("/new\r")
        self.terminal.settle(0.1)  # what is typed in the same instant would be a paste
        self.terminal.until(lambda text: "New conversation" in text and "❯ Ask" in text)

    @property
    def recalled(self) -> str:
        """What was recalled for the newest message, as the server read it."""
        newest = [message for message in self.proxy.chats[-1]["messages"] if message["role"] == "user"][-1]["content"]
        return newest.partition("<palimpsest-recalled")[2].rpartition("</palimpsest-recalled")[0]


def test_memory_brings_sources_and_nothing_for_courtesy(chat: Chat, palimpsest: Palimpsest) -> None:
    chat.say(FACT, lambda text: "I see. Tell me more." in text)
    chat.say("hello", lambda text: "How can I help?" in text)
    chat.say("Write a haiku about rain", lambda text: "evening slows" in text)
    for _ in range(3):  # each time the model searches, and repeats what it found
        chat.begin()
        screen = chat.say(QUESTION, lambda text: "As you said" in text and "recalled" in text)
        cited = re.findall(r"\be_\w{12}\]\s+exact", screen)
        assert "user" in screen.partition("recalled")[2]
        assert FACT in chat.recalled
        for noise in ("user: hello", f"user: {QUESTION}", "How can I", "Let me see", "As you said", "Tell me more"):
            assert noise not in chat.recalled
    for courtesy, reply in (("hello", "How can I help?"), ("thanks!", "You are welcome!"), ("Write a haiku", "slows")):
        chat.begin()
        assert "recalled" not in chat.say(courtesy, lambda text, reply=reply: reply in text)
        assert chat.recalled == ""

    found = palimpsest("search", "greenhouse key", "--json").json["hits"]
    assert (found[0]["origin"], found[0]["snippet"]) == ("user", FACT)
    assert {hit["origin"] for hit in found} == {"user"}
    assert cited[0].startswith(found[0]["id"])
    assert palimpsest("recall", found[0]["id"]).out.strip() == FACT
    offline = palimpsest("--model", "offline", "-p", QUESTION).out
    assert f"> {FACT}" in offline and found[0]["id"] in offline


def test_a_note_is_kept_once_and_its_receipt_is_no_memory(chat: Chat, palimpsest: Palimpsest, tmp_path: Path) -> None:
    chat.terminal.type("Please remember that tea is at four on Thursdays\r")
    chat.terminal.until(lambda text: "↑ ↓ choose" in text, within=60)
    chat.terminal.settle(1)
    chat.terminal.type("1")
    chat.terminal.until(lambda text: "It is kept." in text, within=60)
    assert (tmp_path / "ws" / "MEMORY.md").read_text(encoding="utf-8").count("Tea is at four on Thursdays.") == 1
    hits = palimpsest("search", "When is tea?", "--json").json["hits"]
    assert "Remembered as" not in str(hits)
    assert hits[0]["kind"] in {"memory", "message"} and "tea" in hits[0]["snippet"].lower()


def test_a_large_paste_stays_folded_and_all_of_it_is_recallable(chat: Chat, palimpsest: Palimpsest) -> None:
    lines = [f"Line {n}: the lantern of house {n * 7} burns until {n % 24} o'clock." for n in range(1, 2_001)]
    lines[1_600] = CODEWORD
    chat.terminal.type("\x1b[200~" + "\n".join(lines) + "\x1b[201~")
    chat.terminal.until(lambda text: "[Pasted text #1 · 2,000 lines]" in text)
    screen = chat.say(" What is the codeword of the north gate?", lambda text: "Tell me more." in text)
    shown = re.sub(r"\s+", " ", screen)
    assert re.search(r"lines 1–\d+ of 2,000 sent, all recallable \(#1\)", shown)
    assert "Line 1:" not in screen
    assert CODEWORD in chat.recalled
    assert CODEWORD in palimpsest("recall", "#1").out
    assert palimpsest("recall", "#1").out.rstrip("\n") == "\n".join(lines)
