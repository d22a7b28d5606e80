"""Chips of the prompt: pasted texts and images that are edited as one, opened, sent and restored."""

import os
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from textual.events import Key, Paste

from agent.services.pasted_images import KEPT_S, remove_old_images
from foundation.paths import Workspace
from tests.tui.conftest import Chat, Open
from tui.chat import prompt_images
from tui.chat.prompt_images import image_paths
from tui.images.clipboard import ClipboardUnavailable, clipboard_command
from tui.widgets.prompt.chips import may_be_image_paths

LONG = "line of text\n" * 40
LONG_CHIP = "[Pasted text #1 · 40 lines]"


def picture(path: Path, width: int = 1200, height: int = 800) -> Path:
    Image.new("RGB", (width, height), "teal").save(path)
    return path


def png() -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (30, 20)).save(buffer, "PNG")
    return buffer.getvalue()


def holds(data: bytes) -> Callable[[object], bytes]:
    """A clipboard with this image."""
    return lambda _environment: data


async def paste(chat: Chat, text: str) -> None:
    chat.screen.prompt.post_message(Paste(text))
    await chat.pilot.pause()


async def test_a_chip_is_passed_and_deleted_whole(open_chat: Open) -> None:
    async with open_chat() as chat:
        prompt = chat.screen.prompt
        await chat.type("a")
        await paste(chat, LONG)
        await chat.type("b")
        await chat.press("left", "left")
        assert prompt.cursor_location == (0, 1)
        await chat.press("right")
        assert prompt.cursor_location == (0, 1 + len(LONG_CHIP))
        await chat.press("backspace")
        assert prompt.text == "ab"
        await chat.press("ctrl+z")
        assert prompt.text == f"a{LONG_CHIP}b"
        assert prompt.full_text == f"a{LONG}b"


async def test_ctrl_o_with_nothing_to_open_says_so(open_chat: Open) -> None:
    async with open_chat(notifications=True) as chat:
        await chat.insert("x 茶")
        await chat.press("ctrl+o")
        await chat.until(lambda: any("Nothing to open" in line for line in chat.seen))


async def test_a_chip_says_its_key_and_opens_in_the_pager(open_chat: Open) -> None:
    async with open_chat() as chat:
        await paste(chat, LONG)
        await chat.until(lambda: "Ctrl+O opens it" in chat.seen[-1])
        await chat.press("ctrl+o")
        await chat.until(lambda: chat.app.screen is not chat.screen)
        await chat.until(lambda: any("line of text" in line for line in chat.seen))
        assert any("40 lines" in line for line in chat.seen) and not any("41 lines" in line for line in chat.seen)
        await chat.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
        await chat.type("  x")
        await chat.until(lambda: "Ctrl+O" not in chat.seen[-1])


def escaped(path: str) -> str:
    return path.replace(" ", "\\ ")


def address(path: str) -> str:
    return "file://" + path.replace(" ", "%20")


@pytest.mark.parametrize(
    "written",
    [str, "'{}'".format, '"{}"'.format, escaped, address],
    ids=["plain", "quoted", "double-quoted", "escaped", "address"],
)
async def test_a_dropped_image_becomes_a_chip_and_is_attached(
    written: Callable[[str], str], open_chat: Open, tmp_path: Path
) -> None:
    path = picture(tmp_path / "my photo 照片.png")
    async with open_chat() as chat:
        await chat.type("see")
        await paste(chat, written(str(path)))
        await chat.until(lambda: "[Image #1 · my photo 照片.png · 1,200×800]" in chat.screen.prompt.text)
        await chat.type("what is it?")
        await chat.press("enter")
        await chat.quiet()
        text, names, _ = chat.session.sent[0]
        assert text == f'see @"{path}" what is it?'
        assert names == (path.name,)
        await chat.press("up")
        assert chat.screen.prompt.text == "see [Image #1 · my photo 照片.png · 1,200×800] what is it?"


async def test_an_image_opens_and_a_path_to_no_image_is_text(open_chat: Open, tmp_path: Path) -> None:
    path = picture(tmp_path / "small.png", 40, 20)
    (tmp_path / "lie.png").write_text("no picture")
    async with open_chat(notifications=True) as chat:
        await paste(chat, str(path))
        await chat.until(lambda: "[Image #1" in chat.screen.prompt.text)
        await chat.press("left", "ctrl+o")
        await chat.until(lambda: any("40×20" in line for line in chat.seen) and chat.app.screen is not chat.screen)
        await chat.press("escape")
        await chat.press("ctrl+c")
        for name in ("lie.png", "missing.png"):
            await paste(chat, str(tmp_path / name))
            await chat.until(lambda name=name: chat.screen.prompt.text == str(tmp_path / name))
            await chat.press("ctrl+c")


async def test_the_clipboards_image_is_stored_and_attached(
    open_chat: Open, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_images, "clipboard_image", holds(png()))
    async with open_chat() as chat:
        chat.session.workspace = workspace
        await chat.press("ctrl+v")
        await chat.until(lambda: "[Image #1 · clipboard-" in chat.screen.prompt.text)
        (stored,) = workspace.pasted_images.iterdir()
        assert stored.stat().st_mode & 0o777 == 0o600
        await chat.press("enter")
        await chat.quiet()
        assert stored.read_bytes() == png()
        assert chat.session.sent[0][1] == (stored.name,)


def test_images_of_more_than_a_month_ago_are_removed(tmp_path: Path) -> None:
    old, new, own = (tmp_path / name for name in ("clipboard-0.png", "clipboard-1.png", "mine.png"))
    for path in (old, new, own):
        path.write_bytes(png())
    for path in (old, own):
        os.utime(path, (time.time() - KEPT_S - 60,) * 2)
    remove_old_images(tmp_path)
    assert sorted(tmp_path.iterdir()) == [new, own]
    remove_old_images(tmp_path / "missing")


async def test_the_start_removes_old_images(open_chat: Open, workspace: Workspace) -> None:
    workspace.pasted_images.mkdir(parents=True)
    old = workspace.pasted_images / "clipboard-0.png"
    old.write_bytes(png())
    os.utime(old, (time.time() - KEPT_S - 60,) * 2)
    async with open_chat() as chat:
        await chat.until(lambda: not old.exists())


async def test_a_clipboard_that_cannot_be_read_is_a_sentence(
    open_chat: Open, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_environment: object) -> bytes:
        clipboard_command({}, lambda _name: None)
        return b""

    monkeypatch.setattr(prompt_images, "clipboard_image", fails)
    async with open_chat(size=(100, 30), notifications=True) as chat:
        chat.session.workspace = workspace
        await chat.press("ctrl+v")
        await chat.until(lambda: "wl-paste" in " ".join(chat.seen))
        monkeypatch.setattr(prompt_images, "clipboard_image", holds(b""))
        await chat.press("ctrl+v")
        await chat.until(lambda: "has no image" in " ".join(chat.seen))


def test_the_program_that_reads_the_clipboard() -> None:
    def both(name: str) -> str:
        return f"/usr/bin/{name}"

    assert clipboard_command({"WAYLAND_DISPLAY": "wayland-0"}, both)[0].endswith("wl-paste")
    assert clipboard_command({}, both)[0].endswith("xclip")
    with pytest.raises(ClipboardUnavailable, match="needs wl-paste or xclip"):
        clipboard_command({}, lambda _name: None)


async def test_a_draft_keeps_its_chips(open_chat: Open, workspace: Workspace, tmp_path: Path) -> None:
    path = picture(tmp_path / "plan.png")
    async with open_chat() as chat:
        await paste(chat, LONG)
        await chat.type("b")
        await paste(chat, str(path))
        await chat.until(lambda: "[Image" in chat.screen.prompt.text)
        shown = chat.screen.prompt.text
        full = chat.screen.prompt.full_text
        chat.screen.draft_keeper.save()
    async with open_chat() as chat:
        await chat.until(lambda: chat.screen.prompt.text)
        assert (chat.screen.prompt.text, chat.screen.prompt.full_text) == (shown, full)
        assert any(workspace.drafts.glob("*.md"))


async def test_what_returns_to_the_prompt_is_folded(open_chat: Open) -> None:
    async with open_chat() as chat:
        await paste(chat, LONG)
        await chat.press("ctrl+c")
        chat.screen.prompt.prompt_history.add_pastes([LONG])
        chat.screen._view.return_to_prompt([f"x {LONG}"])  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the test looks inside
        assert chat.screen.prompt.text.startswith("x [Pasted text #")


def test_only_what_looks_like_paths_of_images_is_looked_for(tmp_path: Path) -> None:
    assert may_be_image_paths("'/tmp/a b.png'")
    assert may_be_image_paths("/tmp/a.png /tmp/b.jpg")
    assert not may_be_image_paths("see a.png")
    assert not may_be_image_paths("/tmp/a.png\n/tmp/b.png\n" + "x" * 5_000)
    one, two = picture(tmp_path / "a.png"), picture(tmp_path / "b c.png")
    assert image_paths(f"{one} '{two}'", tmp_path) == [one, two]
    assert image_paths(f"{one} '{tmp_path / 'missing.png'}'", tmp_path) in ([one], [])
    assert image_paths("'open", tmp_path) == []


async def test_a_letter_typed_right_after_backspace_stays(open_chat: Open) -> None:
    """Textual runs the binding of Backspace when the key has bubbled up to the application."""
    async with open_chat() as chat:
        prompt = chat.screen.prompt
        await chat.type("abc")
        for key, character in (("backspace", "\x7f"), ("x", "x"), ("left", None), ("y", "y")):
            prompt._forward_event(Key(key, character))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - as the application does
        await chat.until(lambda: prompt.text == "abyx")


async def test_a_grapheme_is_passed_and_deleted_whole(open_chat: Open) -> None:
    family = "👩\u200d👩\u200d👧\u200d👦"
    async with open_chat() as chat:
        prompt = chat.screen.prompt
        for text in (family, "e\u0301", "🇩🇪", "👍🏽", "字"):
            prompt.insert(f"a{text}b")
            await chat.press("left", "left", "backspace")
            assert prompt.text == f"{text}b"
            await chat.press("right", "backspace")
            assert prompt.text == "b"
            await chat.press("ctrl+c")


async def test_undo_and_redo(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.type("one")
        await chat.press("ctrl+u")
        await chat.press("ctrl+z")
        assert chat.screen.prompt.text == "one"
        await chat.press("ctrl+y")
        assert chat.screen.prompt.text == ""
