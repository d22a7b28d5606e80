"""The chat asks for the key of a service when a model needs it, without showing it."""

from pathlib import Path
from typing import Any

from textual.widgets import Input

from agent.config.config import Config
from foundation.keys import StoredKeys
from models.chat.open import open_model
from models.chat.service_keys import require_key
from models.chat.spec import parse_spec
from tests.tui.conftest import Open
from tests.tui.fakes import FakeSession, answer
from tui.dialogs.line import LineScreen

KEY = "sk-Ab9_c.d-e~f"


async def test_a_model_that_needs_a_key_asks_for_it_once_and_never_shows_it(open_chat: Open, tmp_path: Path) -> None:
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "config")}
    session: Any = FakeSession(answer)
    session.config = Config(environment=environment)

    async def use_model(spec: str) -> Any:
        require_key(parse_spec(spec), environment)
        return open_model(spec, settings=session.config.models, env=environment).profile

    session.use_model = use_model
    async with open_chat(session=session) as chat:
        for keys in (("escape",), (*"  ", *KEY, "enter")):
            chat.screen.queue.add("/model openai:gpt-4o")
            await chat.until(lambda: isinstance(chat.app.screen, LineScreen))
            assert "Key for api.openai.com" in "\n".join(chat.seen)
            for key in keys:
                if len(key) == 1:
                    chat.app.screen.query_one(Input).insert_text_at_cursor(key)
                else:
                    assert KEY not in "\n".join(chat.seen)
                    await chat.press(key)
            await chat.until(lambda: chat.app.screen is chat.screen)
            if keys == ("escape",):
                await chat.until(lambda: "needs a key" in chat.text)
        await chat.until(lambda: "The model is now openai:gpt-4o" in chat.text)
        assert StoredKeys(environment).get("api.openai.com") == KEY
        assert KEY not in chat.text + "\n".join(chat.seen)
        chat.screen.queue.add("/model openai:gpt-4.1")
        await chat.until(lambda: "now openai:gpt-4.1" in chat.text)
