"""Foreign text is shown and obeyed by nothing: on the command line in a pipe and on a terminal, and in the chat."""

import json
import os
import pty
import select
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.services.attachments import mentioned_files
from agent.services.path_completion import quote_mention as mention
from agent.services.path_completion import suggest_paths
from foundation.shell_words import command_line, shell_quote
from foundation.terminal_text import escape_name, unescape_name, visible
from tests import forked
from tests.agent.conftest import Run, bare, root, run  # noqa: F401 - fixtures
from tests.examples import examples
from tests.hostile.payloads import FORBIDDEN, escapes, sample
from tests.paths import ROOT
from tests.tui.conftest import Open, open_chat  # noqa: F401 - a fixture
from tui.widgets.prompt.suggestions import Suggestions

FEW = 24
pytestmark = pytest.mark.timeout(60)
posix = pytest.mark.skipif(sys.platform == "win32", reason="names and terminals of POSIX")


def obeyed(text: str, allowed: str = "") -> list[str]:
    """What of a printed text a terminal would obey, or hide."""
    return [found.group() for found in FORBIDDEN.finditer(text) if found.group() not in allowed]


def test_the_payloads_are_many_and_the_sanitiser_leaves_none() -> None:
    every = list(escapes())
    assert len(every) >= 500
    assert len(set(every)) == len(every)
    assert [text for text in every if obeyed(visible(text))] == []


# ── names of files, in the @ completion and back ──


@given(st.text(min_size=1))
def test_a_name_is_offered_visibly_and_typed_back(name: str) -> None:
    shown = escape_name(name)
    assert unescape_name(shown) == name
    assert visible(shown) == shown
    assert obeyed(shown) == []
    assert not {"\n", "\t", '"'} & set(shown)


def named(payload: str) -> str:
    """The payload as a name that a folder can hold."""
    name = payload.replace("/", "∕").replace("\x00", "")
    return name.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")[:80]


def hostile_folder(folder: Path, payloads: Sequence[str]) -> list[str]:
    """A file for each payload, as somebody else's repository may hold them; gives the names."""
    names = list(dict.fromkeys(map(named, payloads)))
    for name in names:
        (folder / name).write_text(f"of {name!a}", encoding="utf-8")
    return names


async def completed(open_chat: Open, folder: Path, payloads: Sequence[str]) -> int:  # noqa: F811
    """Takes each name from the completion, looking at the screen; gives how many."""
    names = hostile_folder(folder, payloads)
    async with open_chat(size=(120, 40)) as chat:
        prompt, offered = chat.screen.prompt, chat.screen.query_one(Suggestions)
        for name in names:
            shown = escape_name(name)
            prompt.set_text("")
            prompt.insert(f'@"{shown}')
            await chat.until(partial(_offers, offered, shown))
            while offered.items[offered.selected].label != shown:
                await chat.press("down")
            assert obeyed("\n".join(chat.seen)) == [], name
            await chat.press("tab")
            assert obeyed("\n".join(chat.seen)) == [], name
            assert mentioned_files(prompt.text, folder) == [folder / name]
    return len(names)


def _offers(offered: Suggestions, name: str) -> bool:
    return any(item.label == name for item in offered.items)


@posix
async def test_the_completion_offers_no_name_that_a_terminal_obeys(open_chat: Open, tmp_path: Path) -> None:  # noqa: F811
    assert await completed(open_chat, tmp_path, sample(8)) == 8


@posix
@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_the_completion_offers_every_name(open_chat: Open, tmp_path: Path) -> None:  # noqa: F811
    assert await completed(open_chat, tmp_path, list(escapes())) > 490


@posix
@pytest.mark.parametrize("payloads", [sample(60), pytest.param(list(escapes()), marks=pytest.mark.soak)], ids=len)
def test_what_a_completion_puts_names_that_very_file(tmp_path: Path, payloads: Sequence[str]) -> None:
    names = hostile_folder(
        tmp_path, [*payloads, "⟨U+001B⟩", "a\x1b", "a⟨U+001B⟩", 'quo"te', "two words", "no\u00a0break"]
    )
    found = [
        offer
        for name in names
        for offer in suggest_paths(escape_name(name), tmp_path)
        if offer.text == escape_name(name)
    ]
    assert len(found) == len(names)
    for name, offer in zip(names, found, strict=True):
        assert mentioned_files(f"see {mention(offer.text)} there", tmp_path) == [tmp_path / name]


# ── the command line ──


def imported(run: Run, folder: Path, payloads: Sequence[str]) -> None:  # noqa: F811
    """A conversation whose text, title, speaker and id are the payloads, a note, and files that were added."""
    lines = [
        {
            "text": f"zebra number {n} {text}",
            "speaker": f"Ann{text}",
            "id": f"i{n}{text}",
            "role": "user",
            "conversation": f"c{text}",
            "title": f"Title {text}",
            "time": "2026-03-14T09:26:53Z",
        }
        for n, text in enumerate(payloads)
    ]
    path = folder / "talk.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert run("import", str(path)).status == 0
    files = folder / "added"
    files.mkdir()
    for n, text in enumerate(payloads):
        (files / f"{n}.txt").write_text(f"zebra file {text}", encoding="utf-8", errors="surrogatepass")
    run("knowledge", "add", str(files))
    run("archive", str(files / "0.txt"))
    run("remember", f"a zebra note {payloads[0]}".replace("\x00", ""))


COMMANDS = tuple(
    map(
        str.split,
        (
            "search zebra -k 50",
            "search zebra --explain",
            "search --recent",
            "search --kind knowledge",
            "search zebra --around best",
            "recall zebra -k 50",
            "conversations list",
            "knowledge list",
            "knowledge stats",
            "memory list",
            "archive --list",
            "archive --older-than 1d --dry-run",
            "stats",
            "context zebra",
            "export",
            "export --to jsonl",
            "check",
            "doctor",
            "config show",
            "-p zebra?",
            "-p /recall␣zebra",
            "-p /search␣zebra",
            "-p --output-format stream-json zebra?",
        ),
    )
)


def shown_by_every_command(run: Run, folder: Path, payloads: Sequence[str]) -> int:  # noqa: F811
    imported(run, folder, payloads)
    printed = 0
    ids = [one["id"] for one in run("conversations", "list", "--json").json["conversations"]]
    files = [one["name"] for one in run("knowledge", "list", "--json").json["memories"]]
    more = [("conversations", "show", id_) for id_ in ids[:FEW]] + [("knowledge", "show", name) for name in files[:FEW]]
    for words in (
        *COMMANDS,
        *more,
        ("no such command\x1b[2J",),
        ("recall", "no\x9b2J.png"),
        ("search", "--since", "\x1b[2J"),
    ):
        for form in ((), ("--json",)) if "-p" not in words and "--to" not in words else ((),):
            said = run(*(word.replace("␣", " ") for word in words), *form)
            assert obeyed(said.raw.decode("utf-8")) == [], (words, form)
            assert obeyed(said.err, allowed="\ufeff") == [], (words, form)
            printed += len(said.raw)
    return printed


def test_no_command_prints_what_a_terminal_obeys_though_its_output_is_a_pipe(run: Run, tmp_path: Path) -> None:  # noqa: F811
    assert shown_by_every_command(run, tmp_path, sample(FEW)) > 10_000


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_no_command_prints_any_payload_of_all(run: Run, tmp_path: Path) -> None:  # noqa: F811
    assert shown_by_every_command(run, tmp_path, list(escapes())) > 100_000


def test_raw_gives_stored_bytes(run: Run, tmp_path: Path) -> None:  # noqa: F811
    words = "zebra \x1b]52;c;ZXZpbA==\x07 \u202e end"
    line = {"text": words, "id": "x1", "conversation": "c1", "role": "user"}
    (tmp_path / "talk.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    run("import", str(tmp_path / "talk.jsonl"))
    added = tmp_path / "odd.txt"
    added.write_bytes("zebra \x1b[2J no line end \u200e".encode())
    run("knowledge", "add", str(added))
    assert run("recall", "x1", "--raw").raw == words.encode()
    assert run("recall", "x1").raw == visible(words).encode()
    assert run("knowledge", "show", str(added), "--raw").raw == added.read_bytes()
    for command in (("search", "zebra"), ("conversations", "show", "c1"), ("export", "c1")):
        assert words.encode() in run(*command, "--raw").raw, command
        assert words.encode() not in run(*command).raw, command
    assert json.loads(run("recall", "x1", "--json").raw)["hits"][0]["text"] == words


@posix
def test_on_a_terminal_the_same(run: Run, root: Path, tmp_path: Path) -> None:  # noqa: F811
    imported(run, tmp_path, sample(16))
    for words in (("search", "zebra"), ("recall", "zebra"), ("conversations", "list"), ("-p", "what of zebra?")):
        printed = on_a_terminal("--workspace", str(root), *words)
        left = FORBIDDEN.sub("", _without_styles(printed))
        assert left == _without_styles(printed), words
        assert "␛" in printed


def on_a_terminal(*words: str) -> str:
    """What the program writes where stdin, stdout and stderr are one terminal."""
    here, there = pty.openpty()
    environment = {**os.environ, "PYTHONUTF8": "1", "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
    status = _on_terminal(words, environment, there)
    data, ended = b"", False
    while select.select([here], [], [], 0.05)[0] or not ended:
        ended = status() is not None
        try:
            data += os.read(here, 65_536) if select.select([here], [], [], 0.05)[0] else b""
        except OSError:
            break
    os.close(there)
    os.close(here)
    return data.decode("utf-8", "surrogateescape")


def _on_terminal(words: Sequence[str], environment: dict[str, str], there: int) -> Callable[[], int | None]:
    """Starts the program on the terminal, its input empty; gives what tells the exit status."""
    if sys.platform == "linux":
        started = forked.OnTerminal(words, environment, os.ttyname(there), forked.HEADLESS)
        return started.status
    command = [sys.executable, "-m", "agent.cli", *words]
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": there, "stderr": there}
    return subprocess.Popen(command, cwd=ROOT, env=environment, close_fds=True, **streams).poll


def _without_styles(printed: str) -> str:
    """Less the colours that the program itself sets, and its line ends."""
    import re

    return re.sub(r"\x1b\[[0-9;]*m|\r\n|\r(?=[^\x1b]*\r)", "\n", printed).replace("\r", "")


# ── commands that a person may paste into a shell ──


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
@settings(max_examples=examples(60))
def test_a_quoted_word_is_one_visible_argument(word: str) -> None:
    line = command_line("printf", "%s", word)
    assert obeyed(line) == []
    assert "\n" not in line
    if not line.count("$'"):
        assert shlex.split(line) == ["printf", "%s", word]


@posix
@pytest.mark.parametrize(
    "word", ["c1; touch x #", "$(touch x)", "`touch x`", "a'b\x1b]0;x\x07", "\u202e\n\\x41", "-r", ""]
)
def test_a_shell_reads_the_word_back(word: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"printf %s {shell_quote(word)}"], cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout == word.encode()
    assert list(tmp_path.iterdir()) == []


def test_the_hint_to_take_a_conversation_up_again_is_quoted(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    from tui import launch

    class Ended:
        """A chat that was closed."""

        class chat:
            resumable_id = "c1; touch x #"

        error = None
        exit_status = 0

        def run(self) -> None:
            """Nothing."""

    monkeypatch.setattr(launch, "create_app", lambda *_: Ended())
    launch.run_chat(SimpleNamespace(workspace_flag="a; touch y"))
    hint = "Continue it with: palimpsest --workspace 'a; touch y' -r 'c1; touch x #'"
    assert capsys.readouterr().err.strip() == hint
