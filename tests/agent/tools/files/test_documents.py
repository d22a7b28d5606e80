"""Reading what is no text: a PDF by page, pictures, and what cannot be read."""

import io
import json
import threading
from pathlib import Path

import pytest
from PIL import Image as Pillow

from agent.session import Session
from agent.tools.files.read_file import ReadFile
from agent.tools.port import ToolFailure, ToolRun
from foundation.paths import Workspace
from memory.knowledge.readers.document import OcrReader
from models.chat.anthropic.request import anthropic_body
from models.chat.openai.request import messages
from models.messages import Image, Message, Request, Role, ToolCall, ToolResult
from tests.agent.sessions import asked, calls, turn
from tests.agent.tools.files.conftest import ProjectTools
from tests.agent.tools.test_tools import session
from tests.loopback import Loopback, chat
from tests.memory.knowledge.files import pdf

__all__ = ["session"]  # a fixture


def png(width: int = 30, height: int = 20) -> bytes:
    out = io.BytesIO()
    Pillow.new("RGB", (width, height)).save(out, "PNG")
    return out.getvalue()


def test_a_pdf_is_read_by_page(tools: ProjectTools) -> None:
    pdf(tools.root / "a.pdf", ["First page.", "Second page.", "Third page."])
    assert tools.call("read_file", path="a.pdf", offset=2, limit=1) == "[page 2 of 3]\nSecond page."
    whole = tools.call("read_file", path="a.pdf")
    assert whole == "[page 1 of 3]\nFirst page.\n\n[page 2 of 3]\nSecond page.\n\n[page 3 of 3]\nThird page."
    with pytest.raises(ToolFailure, match="has 3 pages"):
        tools.call("read_file", path="a.pdf", offset=4)


@pytest.mark.parametrize(("name", "data"), [("a.pdf", b"%PDF-1.7 broken"), ("a.bin", b"\x00\x01\x02" * 50)])
def test_what_cannot_be_read_says_so(tools: ProjectTools, name: str, data: bytes) -> None:
    tools.write(name, data)
    with pytest.raises(ToolFailure, match=name):
        tools.call("read_file", path=name)


def test_a_text_that_begins_like_a_bitmap_is_text(tools: ProjectTools) -> None:
    tools.write("cars.txt", "BMW M340\n")
    assert tools.call("read_file", path="cars.txt") == "BMW M340\n"


def test_a_model_that_sees_pictures_gets_them_and_another_the_words(tools: ProjectTools) -> None:
    tools.write("a.png", png())
    changes = tools.changes

    def words(_: bytes) -> str:
        return "SALE"

    ocr = OcrReader("an engine", words)
    shown: list[Image] = []
    run = ToolRun("e_1", threading.Event(), show=shown.append)
    seeing = ReadFile(changes, lambda: ocr, lambda: True)
    assert "30×20 pixels, shown with this result" in seeing.run({"path": "a.png"}, run)
    assert [(image.media_type, image.width, image.height) for image in shown] == [("image/png", 30, 20)]
    blind = ReadFile(changes, lambda: ocr)
    assert blind.run({"path": "a.png"}, run).endswith("\nSALE")
    assert len(shown) == 1


def conversation() -> tuple[Message, ...]:
    image = Image(png(), "image/png", 30, 20, "a.png")
    two = (ToolCall("1", "read_file", "{}"), ToolCall("2", "read_file", "{}"))
    return (
        Message(Role.ASSISTANT, two),
        Message(Role.TOOL, (ToolResult("1", "read_file", "a picture"), image)),
        Message(Role.TOOL, (ToolResult("2", "read_file", "a text"),)),
    )


def test_pictures_follow_all_results_on_the_wire() -> None:
    wire = messages(conversation(), vision=True)
    assert [message["role"] for message in wire] == ["assistant", "tool", "tool", "user"]
    assert wire[-1]["content"][0]["type"] == "image_url"
    later = messages((*conversation(), Message(Role.ASSISTANT, ())), vision=True)
    assert later[: len(wire)] == wire  # a request begins with the one before it
    assert "this model sees no images" in messages(conversation(), vision=False)[-1]["content"]
    body = json.loads(anthropic_body(Request(model="m", messages=conversation()), model="m", vision=True))
    assert [block["type"] for block in body["messages"][-1]["content"]] == ["tool_result", "tool_result", "image"]


async def test_a_picture_is_sent_again_with_each_request_of_its_conversation(
    session: Session, server: Loopback, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(session.profile), "vision", property(lambda _: True))
    (workspace.root / "a.png").write_bytes(png())
    server.plays(calls("read_file", path="a.png"), chat("Black."), chat("Still black."))
    await turn(session, "look")
    await turn(session, "again")
    first, second = (request.json["messages"] for request in asked(server)[-2:])
    pictures = [message for message in first if isinstance(message["content"], list)]
    assert len(pictures) == 1
    assert second[: len(first)] == first


def test_a_damaged_picture_says_so(tools: ProjectTools, tmp_path: Path) -> None:
    tools.write("a.png", b"\x89PNG\r\n\x1a\nbroken")
    with pytest.raises(ToolFailure, match=r"a\.png"):
        tools.call("read_file", path="a.png")
