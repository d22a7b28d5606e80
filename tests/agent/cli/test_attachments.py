"""`@file` goes along on the command line as it does in the chat."""

import io
from pathlib import Path

import pytest
from PIL import Image

from agent.services.attachments import mentioned_files
from tests.agent.conftest import Run


@pytest.fixture
def files(run: Run) -> Path:
    """In the folder where `run` runs: a text, an event, a picture."""
    here = Path.cwd()
    (here / "b.txt").write_text("The gate opens at seven.", encoding="utf-8")
    (here / "ev.json").write_text('{"title": "Dentist", "start": "2026-03-14T09:00"}', encoding="utf-8")
    picture = io.BytesIO()
    Image.new("RGB", (30, 20)).save(picture, "PNG")
    (here / "pic.png").write_bytes(picture.getvalue())
    return here


@pytest.mark.usefixtures("files")
def test_context_shows_the_request_with_the_files_in_it(run: Run) -> None:
    report = run("context", "what is @ev.json about? @b.txt @pic.png", "--json").json
    tail = report["messages"][-1]["text"]
    assert "Event: Dentist" in tail and "The gate opens at seven." in tail
    assert "a picture of 30×20 pixels. This model cannot see it" in tail


@pytest.mark.usefixtures("files")
def test_an_answer_says_which_files_go_along_and_what_cannot_be_seen(run: Run) -> None:
    said = run("-p", "look at @b.txt, and @pic.png.")
    assert said.status == 0
    assert "With b.txt, pic.png" in said.err
    assert "pic.png: this model cannot see it" in said.err
    (conversation,) = run("conversations", "list", "--json").json["conversations"]
    entry = run("conversations", "show", conversation["id"], "--json").json["entries"][0]
    assert entry["text"] == "look at @b.txt, and @pic.png."


@pytest.mark.usefixtures("files")
def test_what_comes_through_a_pipe_names_no_files(run: Run) -> None:
    assert "With" not in run("-p", "sum up", stdin=b"mail from @b.txt").err


@pytest.mark.usefixtures("files")
def test_the_context_command_takes_them_too(run: Run) -> None:
    assert "attachment b.txt" in run("-p", "/context what says @b.txt?").out


def test_names_end_where_a_sentence_does(files: Path) -> None:
    (files / "two words.txt").write_text("x", encoding="utf-8")
    text = 'see @b.txt, @"two words.txt" and @b.txt; not me@b.txt nor @nowhere'
    assert mentioned_files(text, files) == [files / "b.txt", files / "two words.txt"]
    (files / "src").mkdir()
    assert mentioned_files("@src/ and @src, and @src/.", files) == [files / "src"]


def test_a_file_outside_the_project_needs_a_rule_or_the_mode_where_nobody_can_be_asked(
    run: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "keys.txt"
    outside.write_text("not for everybody", encoding="utf-8")
    refused = run("-p", f"read @{outside}")
    assert f"{outside} is not attached: it is outside the project" in refused.err
    assert "With keys.txt" not in refused.err
    assert "With keys.txt" in run("-p", f"read @{outside}", "--allow", f"attach_file(/{outside})").err
    assert "With keys.txt" in run("-p", f"read @{outside}", "--mode", "auto").err


def test_a_preview_does_not_read_a_file_that_would_be_asked_about(
    run: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "密钥.txt"
    outside.write_text("not for everybody", encoding="utf-8")
    asked = f"{outside} is outside the project and was not read here. Sending the message asks for it first."
    for shown in (run("context", f"read @{outside}"), run("-p", f"/context read @{outside}")):
        assert asked in shown.out + shown.err
        assert "not for everybody" not in shown.out
        assert f"attachment {outside.name}" not in shown.out
    assert run("permissions", "add", "allow", f"attach_file(/{outside})").status == 0
    assert "not for everybody" in run("context", f"read @{outside}").out
    assert run("permissions", "add", "deny", f"attach_file(/{outside})").status == 0
    denied = run("context", f"read @{outside}")
    assert f"{outside} is not attached: A rule of yours denies it" in denied.err
    assert "not for everybody" not in denied.out
