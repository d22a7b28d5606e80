"""The model of a session: opened, prepared, switched, and remembered as used."""

import asyncio
from typing import Any, Final

from msgspec.structs import replace

from agent.config.config import Config
from agent.config.used_models import GROWTH, WINDOW_FOR, LearnedWindow, UsedModels
from agent.events import AnswerStored, ContextOverflowed, ContextReady, SessionEvent, UsageKnown
from models.chat.open import open_model
from models.chat.port import ChatModel, Profile
from models.chat.service_keys import require_key
from models.chat.spec import address_of, parse_spec
from models.messages import Usage

LEAST_READ: Final = 64  # tokens of a prompt by which the speed of reading can be told


class SessionModel:
    """The present model. That it answered, and how its server takes tools, is remembered for the user."""

    def __init__(self, config: Config, model: ChatModel, used: UsedModels) -> None:
        self.model = model
        self.used = used
        self._config = config
        self._prepared: ChatModel | None = None
        self._takes_tools = False  # as known when the model was prepared
        self._noted: tuple[str, bool] | None = None  # what was noted last
        self._longest = 0  # tokens of the longest prompt that the model accepted here
        self._reading_speed = 0.0  # tokens of a prompt a second, as the server measured it last
        self.learned: LearnedWindow | None = None  # where the window in force is what its server named earlier

    @property
    def profile(self) -> Profile:
        return self.model.profile

    @property
    def window_status(self) -> str:
        """The model's window as a person reads it, and how it is known where its server named it in an error."""
        profile = self.profile
        if self._prepared is not self.model and not profile.window_known:
            return "window not known yet; requested with the first message"
        if self.learned:
            return (
                f"window {profile.window:,}, as reported by its server on "
                f"{self.learned.time.astimezone():%Y-%m-%d} (`/model {profile.spec}` resets it)"
            )
        return f"window {profile.window:,}" if profile.window else ""

    async def prepare(self) -> None:
        """Queries the model's server once for its real window and abilities."""
        if self._prepared is not self.model:
            self._prepared, self._longest, self.learned = self.model, 0, None
            self._reading_speed = 0.0
            await self.model.prepare()
            is_open = not self.model.profile.window_known and not self._config.models.window
            if is_open and (learned := await asyncio.to_thread(self.used.window, self.profile.spec, self._address)):
                self.learned = learned
                self.model.learn_window(learned.tokens)
            self._takes_tools = self.model.profile.tools

    async def use(self, spec: str, *, as_default: bool = True) -> Profile:
        """Switches to the model `spec`. Raises Misuse, and keeps the current one, for an unknown model; MissingKey.

        `as_default`: the person chose it, so it is the default from now on, tools are offered to it natively again,
        and a window that was learned for it is forgotten.
        """
        if as_default:
            await asyncio.to_thread(require_key, parse_spec(spec), self._config.environment)
        model = await asyncio.to_thread(opened_model, self._config, spec, None if as_default else self.used)
        old, self.model = self.model, model
        await old.close()
        if as_default:
            await asyncio.to_thread(self.used.chose, model.profile.spec)
        await self.prepare()
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
            where = "; your messages are sent to another machine" if profile.remote else ""
            return f"This conversation continues with {before}{where}. /model {now} switches."
        return f"This conversation used {before}; you are now using {now}. /model {before} switches back."

    async def note(self, event: SessionEvent) -> SessionEvent:
        """Remembers that the model answered, how its server takes tools, what it accepts, and a window that it named.

        Gives the event, with what became of such a window.
        """
        if isinstance(event, ContextOverflowed):
            return replace(event, advice=await self._learn(event))
        if isinstance(event, ContextReady) and self.profile.is_local:
            unread = max(event.report.total_tokens - event.report.unchanged_prefix_tokens, 0)
            return replace(event, unread=unread, tokens_per_second=self._reading_speed)
        if isinstance(event, UsageKnown) and not event.usage.estimated:
            self._reading_speed = _reading_speed(event.usage) or self._reading_speed
            await self._accepted(event.usage.prompt_tokens)
        if isinstance(event, AnswerStored):
            await self._answered()
        return event

    async def _learn(self, event: ContextOverflowed) -> str:
        """Keeps a window that the server named; a sentence about how long it holds and how to go back."""
        spec, window = self.profile.spec, f"{event.window:,}"
        back = f"/model {spec} resets it"
        if not event.stated:
            return f"It applies to this session, unless the server accepts more later; {back}."
        if event.window >= event.assumed:
            return ""
        if await asyncio.to_thread(self.used.learn_window, spec, self._address, event.window):
            return f"{window} is remembered for this model and address for {WINDOW_FOR.days} days; {back}."
        return f"Its server accepted more before, so {window} applies only to this session; {back}."

    async def _accepted(self, prompt_tokens: int) -> None:
        if prompt_tokens > GROWTH * self._longest:
            self._longest = prompt_tokens
            await asyncio.to_thread(self.used.accepted, self.profile.spec, self._address, prompt_tokens)

    @property
    def _address(self) -> str:
        """The address of the model's server; "" for one that runs in this process."""
        spec = parse_spec(self.profile.spec)
        return "" if spec.provider in {"mlx", "offline"} else address_of(spec, self._config.environment)

    async def _answered(self) -> None:
        profile = self.profile
        noted = profile.spec, self._takes_tools and profile.text_tools
        if noted != self._noted and profile.spec != "offline":
            self._noted = noted
            await asyncio.to_thread(self.used.answered, profile.spec, refused_tools=noted[1])


def _reading_speed(usage: Usage) -> float:
    """Tokens of the prompt a second by llama.cpp's figures; 0 without them, or if the prompt was too short to tell."""
    timings: dict[str, Any] = usage.extra.get("timings") or {}
    speed = timings.get("prompt_per_second")
    return float(speed) if speed and timings.get("prompt_n", 0) >= LEAST_READ else 0.0


def opened_model(config: Config, spec: str, used: UsedModels | None) -> ChatModel:
    """The model of this spec; with tools in text where its server rejected them lately. Raises Misuse."""
    settings = UsedModels.of(config.environment).with_verdicts(config.models)
    if used is not None and settings.tool_calls == "auto" and settings.tools is None and used.calls_in_text(spec):
        settings = replace(settings, tool_calls="text")
    return open_model(spec, settings=settings, env=config.environment)
