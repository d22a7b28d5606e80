"""Pictures in a terminal: which way to draw, how large, and what is looked at."""

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from rich.style import Style

from context import Attachment
from models.chat.port import ImageRule
from tests.paths import ROOT
from tui.images.attached import MAX_ROWS, attachment_previews
from tui.images.half_blocks import fit_cells, picture_lines
from tui.images.load import UndrawableImage, load_picture
from tui.images.protocol import GraphicsProtocol, choose_protocol
from tui.passages.page_screen import MAX_LEVEL, WHOLE_PAGE, NoViewer, Zoom, open_in_viewer
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import line_width

LOOK = TranscriptStyles.of_theme({}, Style())


@pytest.mark.parametrize(
    ("environment", "drawing"),
    [
        ({"TERM": "xterm-256color"}, GraphicsProtocol.BLOCKS),
        ({}, GraphicsProtocol.BLOCKS),
        ({"TERM": "xterm-kitty"}, GraphicsProtocol.KITTY),
        ({"TERM": "xterm-ghostty"}, GraphicsProtocol.KITTY),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/tmux-0/default,1,0"}, GraphicsProtocol.BLOCKS),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, GraphicsProtocol.BLOCKS),
        ({"TERM": "screen.xterm-256color", "TERM_PROGRAM": "WezTerm"}, GraphicsProtocol.BLOCKS),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, GraphicsProtocol.SIXEL),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, GraphicsProtocol.SIXEL),
        ({"TERM": "foot"}, GraphicsProtocol.SIXEL),
        ({"TERM": "xterm-256color", "KONSOLE_VERSION": "230800"}, GraphicsProtocol.SIXEL),
        ({"TERM": "xterm-256color", "KONSOLE_VERSION": "210400"}, GraphicsProtocol.BLOCKS),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, GraphicsProtocol.BLOCKS),
    ],
)
def test_the_terminal_says_how_it_draws(environment: dict[str, str], drawing: GraphicsProtocol) -> None:
    assert choose_protocol(environment) is drawing


def test_the_setting_and_a_terminal_without_colours_come_first() -> None:
    kitty = {"TERM": "xterm-kitty"}
    assert choose_protocol(kitty, "sixel") is GraphicsProtocol.SIXEL
    assert choose_protocol(kitty, "off") is GraphicsProtocol.OFF
    assert choose_protocol(kitty, "auto", colour=False) is GraphicsProtocol.SHADES
    assert choose_protocol(kitty, "off", colour=False) is GraphicsProtocol.OFF


def test_a_thumbnail_keeps_its_proportions_within_its_bounds() -> None:
    assert fit_cells(640, 400, 48, 12) == (38, 12)
    assert fit_cells(1024, 1024, 200, 44) == (88, 44)
    assert fit_cells(4000, 100, 48, 12) == (48, 1)
    assert fit_cells(1, 100_000, 48, 12) == (1, 12)
    assert fit_cells(100_000, 1, 1, 1) == (1, 1)


def test_half_blocks_are_the_pixels_two_a_cell() -> None:
    picture = Image.new("RGB", (2, 4), (255, 0, 0))
    picture.putpixel((1, 3), (0, 0, 255))
    first, second = picture_lines(picture, 2, 2)
    assert [segment.text for segment in first] == ["▀▀"]  # a run of one colour is one segment
    style = second[-1].style
    assert style is not None
    assert style.color is not None
    assert style.bgcolor is not None
    assert style.color.triplet == (255, 0, 0)
    assert style.bgcolor.triplet == (0, 0, 255)


def test_without_colours_there_are_shades() -> None:
    picture = Image.new("RGB", (4, 2), (0, 0, 0))
    picture.paste((255, 255, 255), (2, 0, 4, 2))
    assert [line[0].text for line in picture_lines(picture, 4, 2, GraphicsProtocol.SHADES)] == ["  ██", "  ██"]


def png(width: int, height: int) -> bytes:
    made = BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(made, "PNG")
    return made.getvalue()


@pytest.mark.parametrize("width", [12, 40, 104])
def test_an_attached_picture_is_small_and_says_what_it_costs(width: int) -> None:
    attachments = [Attachment("sun.png", "image/png", png(640, 400)), Attachment("a.txt", "text/plain", b"words")]
    (piece,) = attachment_previews(attachments, ImageRule.ANTHROPIC, GraphicsProtocol.BLOCKS)
    lines = piece.lines(width, LOOK)
    text = "\n".join("".join(segment.text for segment in line) for line in lines)
    assert "345 tokens" in " ".join(text.split())  # ⌈640/28⌉·⌈400/28⌉
    assert text.count("▀")
    assert sum("▀" in "".join(segment.text for segment in line) for line in lines) <= MAX_ROWS
    assert max(map(line_width, lines)) <= width


def test_a_picture_that_is_none_and_pictures_that_are_off_are_named_alone() -> None:
    broken = [Attachment("no\x1b[2J.png", "image/png", b"\x89PNG nothing")]
    (piece,) = attachment_previews(broken, ImageRule.NONE, GraphicsProtocol.BLOCKS)
    text = "".join(segment.text for line in piece.lines(80, LOOK) for segment in line)
    assert "cannot be read as a picture" in text
    assert "\x1b" not in text
    (piece,) = attachment_previews([Attachment("a.png", "image/png", png(9, 9))], ImageRule.NONE, GraphicsProtocol.OFF)
    (line,) = piece.lines(80, LOOK)
    assert (
        "".join(segment.text for segment in line).strip()
        == "a.png · 9×9 · this model does not accept images (models.vision)"
    )


def test_a_picture_that_lies_about_its_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.images.load.MAX_PIXELS", 100)
    with pytest.raises(UndrawableImage, match="11×11"):
        load_picture(png(11, 11))
    assert load_picture(png(10, 10)).size == (10, 10)


def test_going_closer_begins_at_the_upper_left_and_never_leaves_the_picture() -> None:
    assert WHOLE_PAGE.box(1024, 1024) == (0, 0, 1024, 1024)
    closer = WHOLE_PAGE.zoomed(1).zoomed(1)
    assert closer.box(1024, 1024) == (0, 0, 256, 256)
    assert closer.box(1024, 1024, 2.0) == (0, 0, 512, 256)
    assert closer.moved(1, 0).box(1024, 1024) == (128, 0, 384, 256)
    corner = Zoom(level=4)
    for _ in range(60):
        corner = corner.moved(1, 1)
    assert corner.box(1024, 1024) == (960, 960, 1024, 1024)
    assert corner.box(1024, 1024, 4.0) == (768, 960, 1024, 1024)
    assert corner.zoomed(9).level == MAX_LEVEL
    assert WHOLE_PAGE.zoomed(-1) == WHOLE_PAGE


@pytest.mark.parametrize(("side", "most", "high"), [(1024, 72, 64), (1280, 72, 40), (1024, 300, 256), (640, 700, 640)])
def test_words_are_shown_from_where_they_begin_and_large_enough_to_read(side: int, most: int, high: int) -> None:
    zoom = Zoom.at_passage((128, 320), (side, side), most, 2.0)
    left, top, right, bottom = zoom.box(side, side, 2.0)
    assert bottom - top == high
    assert (left, top) == ((128, 320) if high < side else (0, 0))
    assert right - left == min(2 * high, side)
    last = Zoom.at_passage((side - 8, side - 16), (side, side), most, 2.0).box(side, side, 2.0)
    assert last[2:] == (side, side)


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="they have a desktop always")
def test_without_a_desktop_the_path_is_told_and_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(NoViewer) as told:
        open_in_viewer(tmp_path / "a page.png")
    assert str(tmp_path / "a page.png") in told.value.hint


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="xdg-open is the others'")
def test_the_viewer_gets_the_path_as_one_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = tmp_path / "heard"
    opener = tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > {heard}.part && mv {heard}.part {heard}\n')
    opener.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("DISPLAY", ":0")
    page = tmp_path / "$(touch evil); a page.png"
    open_in_viewer(page)
    subprocess.run(["sh", "-c", f"while [ ! -e {heard} ]; do sleep 0.01; done"], check=True, timeout=5)
    assert heard.read_text() == f"{page}|"
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("size", [(24, 80), (0, 0)])
def test_the_library_is_loaded_without_asking_the_terminal(size: tuple[int, int]) -> None:
    """In a pty of its own nothing may be written on import: an answer would land where the person types."""
    if sys.platform == "win32":
        pytest.skip("a pty is POSIX's")
    import fcntl
    import os
    import pty
    import struct
    import termios

    program = "from tui.images.protocol import load_library; load_library()"
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))  # no pixels: it would ask for them
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-c", program])
    written = b""
    while True:
        try:
            some = os.read(terminal, 4096)
        except OSError:
            break
        if not some:
            break
        written += some
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, written
    os.close(terminal)
    assert written == b""
