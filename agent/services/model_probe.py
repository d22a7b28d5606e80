"""Probes a model on this machine: does it call tools, answer in prose and read the system message?"""

import re
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from agent.config.config import Config
from agent.config.used_models import ProbeVerdict, UsedModels
from agent.services.model_check import ModelFailed
from agent.tools.files.read_file import ReadFile
from foundation.bounded_json import BadJson, load_json
from foundation.errors import Misuse
from models.chat.open import open_model
from models.chat.port import AnswerEnd, AnswerError, ChatModel, StopReason, TextChunk
from models.messages import Message, Request, Tool, ToolCall, system, user
from models.settings import ToolWay

MAX_ANSWER_TOKENS: Final = 64
_WORD: Final = "heron"
_TOOL: Final = Tool(
    ReadFile.facts.name,
    "Read a text file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
_HELLO: Final = (system("You are a helpful assistant."), user("hello"))
_READ: Final = (system("You are a helpful assistant."), user("Read the file notes.txt and tell me the deadline."))
_SYSTEM: Final = (system(f"Whatever you are asked, answer with the one word {_WORD}."), user("How are you today?"))
_NO_PROSE: Final = re.compile(rf"^\s*(?:[\[{{<]|```)|\"arguments\"|{_TOOL.name}")


class _Answer(Struct, frozen=True):
    text: str
    calls: tuple[ToolCall, ...]
    repeats: bool

    @property
    def is_plain(self) -> bool:
        return bool(self.text.strip()) and not self.calls and not _NO_PROSE.search(self.text)

    @property
    def reads_notes(self) -> bool:
        """Returns whether the answer calls the tool with the path of the question."""
        return any(call.name == _TOOL.name and _path(call) == "notes.txt" for call in self.calls)


async def probe_model(config: Config, spec: str, report: Callable[[str], None] = lambda _: None) -> ProbeVerdict:
    """Sends three to five short requests, and stores and returns the verdict. `report` is called before each request.

    Raises Misuse for a model on another machine, because each request may cost money there. Raises ModelFailed.
    """
    verdict, known_as = await _probed(config, spec, report)
    UsedModels.of(config.environment).learn_verdict(known_as, verdict)
    return verdict


async def _probed(config: Config, spec: str, report: Callable[[str], None]) -> tuple[ProbeVerdict, str]:
    answers: list[_Answer] = []
    ways: tuple[ToolWay, ToolWay] = "native", "text"
    tools: ToolWay = "none"
    known_as = spec
    for way in ways:
        model = _opened(config, spec, way)
        try:
            profile = await model.prepare()
            known_as = profile.known_as or spec
            report(f"a greeting with a tool offered ({way})")
            hello = await _ask(model, _HELLO, _TOOL)
            report(f"a question that needs the tool ({way})")
            read = await _ask(model, _READ, _TOOL)
            answers += [hello, read]
            if read.reads_notes and (hello.is_plain or way == "text"):  # a greeting gets no list of tools
                tools = "native" if model.profile.tools else "text"  # a server may have rejected them
                break
        finally:
            await model.close()
    model = _opened(config, spec, "native")
    try:
        await model.prepare()
        report("whether the system message is read")
        answers.append(await _ask(model, _SYSTEM))
    finally:
        await model.close()
    verdict = ProbeVerdict(
        tools=tools,
        is_plain=any(answer.is_plain for answer in answers[:-1:2]),
        system=_WORD in answers[-1].text.casefold(),
        repeats=any(answer.repeats for answer in answers),
    )
    return verdict, known_as


def _opened(config: Config, spec: str, way: ToolWay) -> ChatModel:
    """Opens the model with tools offered this way, and ignores the settings of the model."""
    settings = replace(config.models, profiles={}, tools=None, tool_calls="text" if way == "text" else "native")
    model = open_model(spec, settings=settings, env=config.environment)
    if model.profile.remote or spec == "offline":
        raise Misuse(
            "No probe",
            f"{spec} does not run on this machine, so it was not tested.",
            "Set its tool format in `models.profiles`.",
        )
    return model


async def _ask(model: ChatModel, messages: tuple[Message, ...], *tools: Tool) -> _Answer:
    request = Request(
        model=model.profile.name, messages=messages, tools=tools, max_tokens=MAX_ANSWER_TOKENS, temperature=0.0
    )
    text, calls, repeats = "", list[ToolCall](), False
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            match event:
                case TextChunk(text=piece):
                    text += piece
                case ToolCall():
                    calls.append(event)
                case AnswerEnd(reason=reason):
                    repeats = reason is StopReason.REPETITION
                case AnswerError(title=title, message=message, hint=hint):
                    raise ModelFailed(title, message, hint)
                case _:
                    pass
    return _Answer(text, tuple(calls), repeats)


def _path(call: ToolCall) -> object:
    try:
        arguments: object = load_json(call.arguments)
    except BadJson:
        return None
    return cast("dict[str, Any]", arguments).get("path") if isinstance(arguments, dict) else None
