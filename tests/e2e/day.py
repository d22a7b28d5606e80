"""A person who uses the program for a day: one workspace, one server, one terminal after another.

Each action leaves the chat idle, and keeps what must be in the store at the end. `messages` are what the person sent,
`answers` what the server said to its end.
"""

import json
import os
import random
import re
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyte

from foundation.paths import Workspace
from memory.memory import Memory
from memory.records import EntryKind
from models.messages import Role
from tests.loopback import Loopback, Pause, Received, Reply, Stall, chat, data, delta, json_reply, stream
from tests.tui.emulator import Emulator, cells
from tests.tui.pty_screen import Terminal

SIZES = ((80, 24), (120, 36), (200, 50))
SETTLED_S = 0.5  # seconds at rest after which all is drawn
ENTER, ESC, DOWN, UP, REDRAW = "\r", "\x1b", "\x1b[B", "\x1b[A", "\x0c"
CTRL_UP, HOME_END = "\x1b[1;5A", "\x1b[1;5F"
WORDS = (
    "harbour",
    "锅炉在五月保养。",
    "🐋",
    "👩\u200d💻",
    "`zones`",
    "**twice**",
    "[x]",
    "日本語",
    "Hansen",
    "❤️",
    "[/red]",
)
MARK = re.compile(r"ask(\d{4})")


class Day:
    """What was done so far. `dice` chooses words and sizes; `sizes` is walked through when the window changes."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.dice = folder, random.Random(seed)
        self.root, self.project = folder / "ws", folder / "project"
        self.project.mkdir()
        self.messages: list[str] = []
        self.answers: list[str] = []
        self.number = 0
        self.size = (80, 24)
        self._notes: list[str] = []  # lines that a hand wrote to MEMORY.md
        self.server = Loopback()
        self.server.answers_all(self.reply)
        self.server.__enter__()
        self.server.port = int(self.server.address.rpartition(":")[2])
        self.terminal = self.start()

    # The server

    def reply(self, received: Received) -> Reply:
        """Says `got` and the number of the last message, calls the tool that it names, or never ends."""
        if not received.path.endswith("/chat/completions"):
            return json_reply({"error": {"message": "not here"}}, status=404)
        spoken = [each for each in received.json["messages"] if each["role"] in {"user", "tool"}]
        said = [text for each in spoken if MARK.search(text := json.dumps(each["content"], ensure_ascii=False))]
        _, number_, text = MARK.split(said[-1])[-3:] if said else ("", "0", "")  # what is recalled stands before it
        number = int(number_)
        if "endless" in text:
            begun = data(delta(content=f"begun{number:04} 一二三 🐋 and so on. "))
            return stream(data(delta(role="assistant", content="")), begun, Stall())
        if spoken[-1]["role"] == "user" and (tool := re.search(r"tool (\w+)", text)):
            return self._call(tool[1], number)
        pieces = self.answer(number)
        if "slowly" in text:
            parts = [step for piece in pieces for step in (data(delta(content=piece)), Pause(0.12))]
            return stream(data(delta(role="assistant", content="")), *parts, data(delta("stop")), data("[DONE]"))
        return chat(*pieces)

    def answer(self, number: int) -> list[str]:
        """The pieces of an answer in Markdown, the same each time."""
        dice = random.Random(number)
        words = [f"{word} " for word in dice.choices(WORDS, k=dice.randint(3, 40))]
        blocks = [
            "# 标题 🙂\n\n",
            "- one\n- 二\n\n",
            "```python\nx = '锅炉'  # ❤️\n```\n\n",
            "| a | 名 |\n|---|---|\n| 1 | 🐋 |\n\n",
        ]
        return [*dice.sample(blocks, 2), *words, f"\n\ngot{number:04}"]

    def _call(self, name: str, number: int) -> Reply:
        arguments = {
            "run_command": {"command": f"touch ran; printf ran{number:04}"},
            "write_file": {"path": str(self.project / f"made{number:04}.txt"), "content": "一行\n🐋\n"},
        }[name]
        call = {
            "index": 0,
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        return stream(data(delta(tool_calls=[call])), data(delta("tool_calls")), data("[DONE]"))

    # The terminal

    def start(self, *arguments: str) -> Terminal:
        columns, rows = self.size
        terminal = Terminal(
            *("--workspace", str(self.root), "--add-dir", str(self.project), *arguments),
            columns=columns,
            rows=rows,
            screen=Emulator(columns, rows),
            PALIMPSEST_CONFIG_DIR=str(self.folder / "config"),
            PALIMPSEST_MODEL=f"openai:m@{self.server.address}/v1",
            PALIMPSEST_MODELS_WINDOW="16000",
            HOME=str(self.folder),
        )
        terminal.until(lambda text: "mode ask" in text.rstrip().rpartition("\n")[2], within=60)
        return terminal

    def send(self, words: str, *, after: str = "") -> int:
        """Pastes a message with a number and sends it; gives the number. `after`: what the prompt holds already."""
        self.number += 1
        text = f"ask{self.number:04} {words} {' '.join(self.dice.choices(WORDS, k=3))}"
        self.messages.append(after + text)
        self.terminal.type(f"\x1b[200~{text}\x1b[201~{ENTER}")
        return self.number

    def command(self, line: str) -> None:
        self.terminal.type(f"\x1b[200~{line}\x1b[201~{ENTER}")

    def answered(self, number: int, *, times: int = 1) -> None:
        """Waits for the end of the answer to this message."""
        self.until(lambda text: f"got{number:04}" in text and "Esc stops" not in text)
        self.answers += ["".join(self.answer(number))] * times

    def until(self, holds: Callable[[str], bool], within: float = 40) -> str:
        return self.terminal.until(holds, within)

    def press_until(self, key: str, holds: Callable[[str], bool], times: int = 20) -> None:
        """Presses the key until the screen is so: a dialog takes no key in its first second."""
        for _ in range(times):
            self.terminal.type(key)
            self.terminal.settle(0.3)
            if holds(self.terminal.text):
                return
        raise AssertionError(f"{times} times {key!r} leads to:\n{self.terminal.text}")

    def resize(self, columns: int = 0, rows: int = 0) -> None:
        """Another window: of this size, one of the usual, or a random one."""
        if not columns:
            other = (self.dice.randint(40, 200), self.dice.randint(10, 50))
            columns, rows = self.dice.choice((*SIZES, other))
        self.size = columns, rows
        self.terminal.resize(columns, rows)

    def looks_fresh(self) -> None:
        """The screen is that of a whole new drawing, to the cell and its colours."""
        self.terminal.quiet(SETTLED_S)
        shown = cells(self.terminal.screen)
        text, start = self.terminal.text, len(self.terminal.bytes)
        self.terminal.type(REDRAW)
        self.terminal.quiet(SETTLED_S)
        fresh = Emulator(*self.size)
        pyte.ByteStream(fresh).feed(self.terminal.bytes[start:])
        rows = [number for number, row in enumerate(cells(fresh)) if row != shown[number]]
        assert rows == [], f"rows {rows} at {self.size}, shown:\n{text}\n\nfresh:\n" + "\n".join(fresh.display)
        self.terminal.bytes = b""

    # What a person does

    def chat(self) -> None:
        self.answered(self.send("tell me of"))

    def tool(self) -> None:
        """A command that is permitted once."""
        number = self.send("tool run_command with")
        self._permit("run_command")
        self.answered(number)

    def declined(self) -> None:
        number = self.send("tool run_command, which is declined,")
        self.until(lambda text: "The model wants to use" in text)
        self.terminal.type(ESC)
        self.answered(number)

    def undo(self) -> None:
        """A file that a tool made is taken back."""
        number = self.send("tool write_file for")
        self._permit("write_file")
        self.answered(number)
        made = self.project / f"made{number:04}.txt"
        assert made.read_text("utf-8") == "一行\n🐋\n"
        self.command("/undo")
        self._waits_for(lambda: not made.exists())

    def _permit(self, tool: str) -> None:
        self.until(lambda text: f"The model wants to use {tool}" in text and "↑ ↓ choose" in text)
        for _ in range(20):  # what is pressed too early goes nowhere
            self.terminal.type("1")
            self.terminal.settle(1.2)
            if f"The model wants to use {tool}" not in self.terminal.text:
                return
        raise AssertionError(f"1 leads to:\n{self.terminal.text}")

    def stop(self) -> None:
        number = self.send("endless")
        self.until(lambda text: f"begun{number:04}" in text)
        self.terminal.type(ESC)
        self.until(lambda text: "stopped" in text and "Esc stops" not in text)

    def queue(self) -> None:
        """Two messages wait for an answer that is under way; the window changes meanwhile."""
        first = self.send("slowly")
        self.until(lambda text: "Esc stops" in text or f"ask{first:04}" in text)
        second, third = self.send("then"), self.send("and then")
        self.resize()
        self.until(lambda text: f"got{third:04}" in text and "Esc stops" not in text)
        self.answers += ["".join(self.answer(number)) for number in (first, second, third)]

    def branch(self) -> None:
        """The last message is written anew: a branch begins, and the old one stays."""
        self.chat()
        self.resize(120, 36)
        self.terminal.quiet()
        self.press_until(CTRL_UP, lambda text: "edit and resend" in text)
        self.terminal.type("r")
        old = self.messages[-1]
        self.until(lambda text: f"❯ {old[:7]}" in text.rpartition("❯")[1] + text.rpartition("❯")[2])
        self.answered(self.send("once more:", after=old))

    def compact(self) -> None:
        self.command("/compact --yes")
        said = ("older turn", "nothing to archive", "Archiving would save nothing")  # the last two early in a day
        self.until(lambda text: "Esc stops" not in text and any(words in text for words in said))
        self.terminal.quiet()

    def archive(self) -> None:
        """A file becomes pages of the archive."""
        self.number += 1
        path = self.project / f"letter{self.number:04}.txt"
        path.write_text(f"Dear Ann, letter{self.number:04}. 孔雀石七号。 🐋\n" * 30, encoding="utf-8")
        self.command(f"/archive {path}")
        name = f"letter{self.number:04}”: 1 page, read back"  # the receipt is longer than a low screen
        self.until(lambda text: name in " ".join(text.split()))
        self.terminal.quiet()

    def recall(self) -> None:
        """What was said is looked up, and the search is left."""
        self.command("/recall ask0001")
        self.terminal.quiet(0.6)
        self.terminal.type(DOWN)
        self.resize()
        self.terminal.quiet()
        self.press_until(ESC, lambda text: "mode ask" in text.rstrip().rpartition("\n")[2])

    def killed(self) -> None:
        """The program is killed in the middle of an answer, and goes on with the conversation."""
        number = self.send("endless")
        self.until(lambda text: f"begun{number:04}" in text)
        os.kill(self.terminal.pid, signal.SIGKILL)
        assert self.terminal.ended() == -signal.SIGKILL
        self.terminal.close()
        self.terminal = self.start("-c")
        self.until(lambda text: f"ask{number:04}" in text)
        self.chat()

    def edited_by_hand(self) -> None:
        """Somebody writes to MEMORY.md while an answer is under way; the next request holds it."""
        number = self.send("slowly")
        self.until(lambda text: f"ask{number:04}" in text)
        note = f"- note{number:04} by hand 手写 🐋"
        with (self.root / "MEMORY.md").open("a", encoding="utf-8") as memory:
            memory.write(f"\n{note}\n")
        self._notes.append(note)
        self.answered(number)
        self.chat()
        assert note in self._notes
        assert f"note{number:04} by hand" in str(self.server.posts[-1].json)

    def server_lost(self) -> None:
        """The server goes, an error says so, it comes back, and the same message is answered."""
        self.server.__exit__()
        try:
            number = self.send("are you there,")
            ask = f"ask{number:04}"  # what the error advises stands below it; a notice of a retry has no advice
            self.until(lambda text: ask in text and "/retry" in text.rpartition(ask)[2] and "Esc stops" not in text)
        finally:
            port = self.server.port
            self.server = Loopback(port=port)
            self.server.answers_all(self.reply)
            self.server.__enter__()
        self.command("/retry")
        self.answered(number)

    def _waits_for(self, holds: Callable[[], Any]) -> None:
        for _ in range(200):
            if holds():
                return
            self.terminal.settle(0.1)
        raise AssertionError(f"it never came:\n{self.terminal.text}")

    # The end

    def end(self) -> None:
        """Leaves, and looks into the store: all that was said is there once, and nothing else."""
        self.terminal.type("\x04")
        assert self.terminal.ended() == 0, self.terminal.text
        self.compare()

    def compare(self) -> None:
        """Fails where the store does not hold what was said."""
        written = (self.root / "MEMORY.md").read_text("utf-8")
        assert [note for note in self._notes if written.count(note) != 1] == []
        memory = Memory.open(Workspace(self.root))
        try:
            said, answered = _stored(memory, Role.USER), _stored(memory, Role.ASSISTANT)
            assert memory.cold.check() == []
        finally:
            memory.close()
        assert said == Counter(self.messages), _difference(said, Counter(self.messages))
        answered = Counter({text: count for text, count in answered.items() if "got" in text})
        assert answered == Counter(self.answers), _difference(answered, Counter(self.answers))

    def close(self) -> None:
        self.terminal.close()
        self.server.__exit__()


ACTIONS: tuple[Callable[[Day], None], ...] = (
    *(Day.chat, Day.tool, Day.declined, Day.undo, Day.stop, Day.queue, Day.branch, Day.compact, Day.archive),
    *(Day.recall, Day.killed, Day.edited_by_hand, Day.server_lost),
)


def _stored(memory: Memory, role: Role) -> Counter[str]:
    rows = memory.cold.read(
        lambda db: [
            seq
            for (seq,) in db.execute(
                "SELECT seq FROM entries WHERE role = ? AND kind = ?", (role.value, EntryKind.MESSAGE.value)
            )
        ]
    )
    return Counter(memory.passage(memory.cold.entry(seq)).text for seq in rows)


def _difference(stored: Counter[str], expected: Counter[str]) -> str:
    return f"too many: {list(stored - expected)}\nmissing: {list(expected - stored)}"
