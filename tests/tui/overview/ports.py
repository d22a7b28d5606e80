"""What the screens of models and servers show, without a session: every text in them is given."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from msgspec.structs import replace

from agent.mcp.definitions import OfferedTool
from agent.mcp.server_spec import ServerSource
from agent.mcp.server_state import ServerState, ServerStatus
from agent.services.model_check import ModelCheck
from agent.services.models_view import ModelsView, model_facts
from agent.spending.report import Spent
from context.settings import ContextSettings
from models.chat.detect import DetectedModel
from models.chat.port import ImageRule, Profile
from models.messages import Tool, Usage
from models.settings import ModelSettings

SPENT = Spent(
    key="today",
    requests=12,
    prompt_tokens=61_000,
    completion_tokens=4_100,
    cached_tokens=40_000,
    money={"USD": 0.2412},
    local=0,
    unpriced=0,
)
QWEN = Profile(
    spec="ollama:qwen3:4b", name="qwen3:4b", window=32_768, window_known=True, tools=True, images=ImageRule.QWEN3
)
CLAUDE = Profile(spec="anthropic:claude-sonnet-4-5", name="claude-sonnet-4-5", window=200_000, tools=True, remote=True)


class GivenModels:
    """Models of these profiles; `text` stands wherever a server or a file gives a text."""

    def __init__(self, found: Sequence[Profile] = (), text: str = "") -> None:
        self._found = found
        self._text = text
        self._current = found[0] if found else Profile(spec="offline", name="offline", window=12_288)

    async def view(self) -> ModelsView:
        return ModelsView(
            current=self._current,
            window_status=self._text or f"window {self._current.window:,}",
            is_looked_for=True,
            used=(self._text or "mlx:mlx-community/Qwen3-4B-4bit",) if self._found else (),
            by_key=(DetectedModel(spec=CLAUDE.spec, profile=CLAUDE, address="https://api.anthropic.com", provider="x"),)
            if self._found
            else (),
            embedder=self._text or ("ollama:nomic-embed-text" if self._found else "none"),
            vectors=self._text or "1,180 of 1,204 entries, 2,040 vectors",
            conversation=replace(SPENT, requests=2, prompt_tokens=3_000, completion_tokens=200)
            if self._found
            else None,
            today=SPENT if self._found else replace(SPENT, requests=0, prompt_tokens=0, completion_tokens=0, money={}),
            caps=self._text or ("Today: 65,100 of 500,000 tokens." if self._found else ""),
            keys=("ANTHROPIC_API_KEY",) if self._found else (),
        )

    async def found(self) -> AsyncGenerator[list[DetectedModel]]:
        for profile in self._found[1:]:
            yield [DetectedModel(spec=profile.spec, profile=profile, address="", provider=self._text or "ollama")]

    async def states(self, specs: Sequence[str]) -> dict[str, str]:
        return dict.fromkeys(specs, self._text or "its folder does not exist")

    async def at(self, address: str) -> list[DetectedModel]:
        del address
        return []

    def profile(self, spec: str) -> Profile:
        return Profile(spec=spec, name=spec)

    def facts(self, profile: Profile) -> str:
        return self._text or "\n".join(model_facts(profile, {}, ModelSettings(), ContextSettings()))

    def price_of_test(self, spec: str) -> str:
        del spec
        return ""

    async def test(self, spec: str) -> ModelCheck:
        text = self._text or "ready"
        return ModelCheck(
            profile=self.profile(spec), text=text, first_token_ms=120, tokens_per_second=38.2, usage=Usage()
        )

    async def use_embedder(self, spec: str) -> str:
        return self._text or spec


def status(name: str, state: ServerState, **more: Any) -> ServerStatus:
    fields: dict[str, Any] = {"source": ServerSource.USER, "summary": "uvx mcp-server-time", **more}
    return ServerStatus(name=name, state=state, **fields)


def tool(name: str, description: str, tokens: int = 60) -> OfferedTool:
    return OfferedTool("time", name, Tool(name, description, {}), "", tokens)


class GivenServers:
    """Servers of these states."""

    def __init__(self, statuses: Sequence[ServerStatus], problems: Sequence[str] = ()) -> None:
        self._statuses = statuses
        self.problems = problems

    def statuses(self) -> Sequence[ServerStatus]:
        return self._statuses

    def start(self) -> None: ...

    def facts(self, name: str) -> Sequence[str]:
        return (name,)

    async def restart(self, name: str) -> None: ...

    async def switch(self, name: str) -> None: ...

    async def trust(self, name: str) -> None: ...

    async def add(self, text: str) -> str:
        return text

    async def remove(self, name: str) -> None: ...
