"""The least chat that Textual itself makes: its own Markdown stream and a text area, against the same server.

python -m benchmarks.terminals.textual_chat http://127.0.0.1:PORT/v1
"""

import asyncio
import json
import sys

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown, TextArea


class TextualChat(App[None]):
    """Any message is answered by what the server streams."""

    CSS = "VerticalScroll {height: 1fr} TextArea {height: 5}"

    def __init__(self, address: str) -> None:
        super().__init__()
        self.port = int(address.rpartition(":")[2].partition("/")[0])

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Markdown("❯")
        yield TextArea()

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()

    async def on_text_area_changed(self, event: TextArea.Changed) -> None:
        if event.text_area.text.endswith("go\n"):
            self.run_worker(self.answer())

    async def answer(self) -> None:
        self.query_one(VerticalScroll).anchor()
        stream = Markdown.get_stream(self.query_one(Markdown))
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}")
        async for line in reader:
            if line.startswith(b"data: {"):
                delta = json.loads(line[6:])["choices"][0]["delta"]
                await stream.write(delta.get("content", ""))
            elif line.startswith(b"data: [DONE]"):
                break
        await stream.stop()
        writer.close()


if __name__ == "__main__":
    TextualChat(sys.argv[1]).run()
