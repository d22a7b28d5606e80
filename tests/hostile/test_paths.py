"""Hostile workspaces: whatever a workspace holds, no command changes or deletes a file outside of it."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.cli import main
from agent.cli.launch import LaunchOptions
from foundation.errors import PalimpsestError
from foundation.paths import Workspace
from foundation.workspace_trust import trust_store
from memory.access import first_entry
from tests.hostile.workspaces import fingerprint, make

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="links, FIFOs and owners are POSIX's here"),
    pytest.mark.timeout(120),
]

SAMPLE, WHOLE = 6, 200
LONGEST_S = 30  # seconds of one command; a FIFO that is waited for takes longer
COMMANDS: tuple[tuple[str, ...], ...] = (
    (),
    ("-p", "what of the lighthouse?"),
    ("search", "lighthouse"),
    ("recall", "lighthouse"),
    ("remember", "eight black ships"),
    ("context",),
    ("stats",),
    ("check",),
    ("archive", "--repack"),
    ("export",),
    ("knowledge", "list"),
    ("check", "--repair"),
    ("conversations", "delete", "CONVERSATION", "--yes"),
    ("-p", "and now?"),
)


class Hung(BaseException):
    """A command that did not end."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Hung

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def chat(opening: LaunchOptions) -> int:
    """What the screen does beside drawing: drafts, history, a session that is opened and closed."""
    import asyncio

    from agent.services.drafts import NEW
    from agent.services.window_drafts import WindowDrafts
    from agent.session import Session
    from tui.widgets.prompt.history import PromptHistory

    history, drafts = PromptHistory(opening.workspace.prompt_history), WindowDrafts(opening.workspace.drafts)
    for act in (
        history.load,
        lambda: history.add("typed"),
        lambda: drafts.load(NEW),
        lambda: drafts.save(NEW, "typed"),
    ):
        try:
            act()
        except (OSError, PalimpsestError):
            continue
    session = Session.open(opening.workspace, opening.config)
    asyncio.run(session.close())
    return 0


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a conversation, a note, an archive, a kept text and a file of knowledge."""
    monkeypatch.setenv("PALIMPSEST_DETECT", "off")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("agent.cli.chat.at_a_terminal", lambda: True)
    monkeypatch.setattr("agent.cli.invocation.piped_input", lambda: None)
    monkeypatch.setattr("agent.cli.chat.piped_input", lambda _seconds: None)
    (tmp_path / "home").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("ships.md").write_text("# Ships\n\nSeven white ships passed the lighthouse.\n")
    root = tmp_path / "template"
    for words in (
        ("init", str(root)),
        ("--workspace", str(root), "-p", "the lighthouse keeper counts ships"),
        ("--workspace", str(root), "remember", "the lighthouse has 112 steps"),
        ("--workspace", str(root), "archive", "ships.md", "--label", "ships"),
        ("--workspace", str(root), "knowledge", "add", "ships.md"),
    ):
        assert main(None, words) == 0
    return root


def attack(template: Path, place: Path, seed: int, *, trusted: bool) -> list[str]:
    """Runs every command on one hostile workspace; what went wrong, in sentences."""
    ground, told = make(template, place, seed)
    space = Workspace(ground.root)
    if trusted:
        trust_store(os.environ).trust(space, first_entry(space.database))
    name = next((path.stem for path in (template / "conversations").glob("*.md")), "none")
    outside, inside = fingerprint(ground.outside), fingerprint(ground.root)
    wrong: list[str] = []
    for command in COMMANDS:
        words = tuple(name if word == "CONVERSATION" else word for word in command)
        try:
            with within(LONGEST_S):
                main(chat, ("--workspace", str(ground.root), *words))
        except Hung:
            wrong.append(f"{' '.join(command)}: did not end")
        wrong += [
            f"{' '.join(command) or 'chat'}: outside, {one}" for one in changes(outside, fingerprint(ground.outside))
        ]
        if not trusted:
            wrong += [
                f"{' '.join(command) or 'chat'}: inside, {one}" for one in changes(inside, fingerprint(ground.root))
            ]
        if wrong:
            break
    return [f"seed {seed} ({'trusted' if trusted else 'untrusted'}; {'; '.join(told)}): {one}" for one in wrong]


def changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return [
        f"{name}: {before.get(name)} → {after.get(name)}"
        for name in before | after
        if before.get(name) != after.get(name)
    ]


def attacked(template: Path, tmp_path: Path, seeds: range, *, trusted: bool, forget: bool = False) -> list[str]:
    wrong: list[str] = []
    for seed in seeds:
        place = tmp_path / f"{seed}-{trusted}"
        wrong += attack(template, place, seed, trusted=trusted)
        if forget:
            shutil.rmtree(place, ignore_errors=True)
    return wrong


@pytest.mark.parametrize("trusted", [False, True])
def test_hostile_workspaces_change_nothing_outside(
    template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], trusted: bool
) -> None:
    wrong = attacked(template, tmp_path, range(SAMPLE), trusted=trusted)
    assert wrong == [], "\n".join(wrong)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("trusted", [False, True])
def test_two_hundred_hostile_workspaces_change_nothing_outside(
    template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], trusted: bool
) -> None:
    wrong = attacked(template, tmp_path, range(1000, 1000 + WHOLE), trusted=trusted, forget=True)
    with capfd.disabled():
        kind = "trusted" if trusted else "untrusted"
        print(f"\n{WHOLE} hostile workspaces, {kind}: {len(COMMANDS) * WHOLE:,} commands, {len(wrong)} changes outside")
    assert wrong == [], "\n".join(wrong)
