"""The model of a session: opened, prepared, switched, and remembered as used."""

import asyncio

from msgspec.structs import replace

from agent.config.config import Config
from agent.config.used_models import UsedModels
from agent.events import AnswerStored, ContextOverflowed, SessionEvent
from models.chat.open import open_model
from models.chat.port import ChatModel, Profile


class SessionModel:
    """The present model. That it answered, and how its server takes tools, is remembered for the user."""

    def __init__(self, config: Config, model: ChatModel, used: UsedModels) -> None:
        self.model = model
        self.used = used
        self._config = config
        self._prepared: ChatModel | None = None
        self._takes_tools = False  # as known when the model was prepared
        self._noted: tuple[str, bool] | None = None  # what was noted last

    @property
    def profile(self) -> Profile:
        return self.model.profile

    @property
    def is_prepared(self) -> bool:
        return self._prepared is self.model

    async def prepare(self) -> None:
        """Queries the model's server once for its real window and abilities."""
        if self._prepared is not self.model:
            self._prepared = self.model
            await self.model.prepare()
            is_open = not self.model.profile.window_known and not self._config.models.window
            if is_open and (window := await asyncio.to_thread(self.used.window, self.model.profile.spec)):
                self.model.learn_window(window)
            self._takes_tools = self.model.profile.tools

    async def use(self, spec: str, *, as_default: bool = True) -> Profile:
        """Switches to the model `spec`. Raises Misuse, and keeps the current one, for an unknown model.

        `as_default`: the person chose it, so it is the default from now on, and tools are offered to it natively again.
        """
        model = await asyncio.to_thread(opened_model, self._config, spec, None if as_default else self.used)
        old, self.model = self.model, model
        await old.close()
        await self.prepare()
        if as_default:
            await asyncio.to_thread(self.used.chose, model.profile.spec)
        return model.profile

    async def restore(self, before: str) -> str:
        """Goes back to the model `before`, which a conversation was held with, and says so; "" where it is the current.

        Only to one that the person used before, and not where a flag names the model: then it says how to go back.
        """
        now = self.profile.spec
        if not before or before == now:
            return ""
        known = before != "offline" and before in await asyncio.to_thread(lambda: self.used.specs)
        if known and not self._config.model_is_fixed:
            profile = await self.use(before, as_default=False)
            where = "; what you write is sent to another machine" if profile.remote else ""
            return f"This conversation goes on with {before}, as before{where}. /model {now} changes that."
        return f"This conversation was held with {before}; you speak to {now} now. /model {before} goes back."

    async def note(self, event: SessionEvent) -> None:
        """Remembers that the model answered, and whether its server rejected tools meanwhile; a window that it told."""
        if isinstance(event, ContextOverflowed) and event.stated:
            await asyncio.to_thread(self.used.learned_window, self.profile.spec, event.window)
        if not isinstance(event, AnswerStored):
            return
        profile = self.profile
        noted = profile.spec, self._takes_tools and profile.text_tools
        if noted != self._noted and profile.spec != "offline":
            self._noted = noted
            await asyncio.to_thread(self.used.answered, profile.spec, refused_tools=noted[1])


def opened_model(config: Config, spec: str, used: UsedModels | None) -> ChatModel:
    """The model of this spec; with tools in text where its server rejected them lately. Raises Misuse."""
    settings = config.models
    if used is not None and settings.tool_calls == "auto" and settings.tools is None and used.calls_in_text(spec):
        settings = replace(settings, tool_calls="text")
    return open_model(spec, settings=settings, env=config.environment)
