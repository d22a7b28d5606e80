"""The server says that its context overflowed: the window is learned, the request is sent once more, smaller."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.config.used_models import UsedModels
from agent.events import AnswerStored, Compacted, ContextOverflowed, TurnFailed
from agent.session import Session
from agent.turn.overflow import MOST_LEARNED, OVERFLOW, STEP, OverflowRetry
from context.report import ContextReport
from context.settings import ContextSettings
from foundation.paths import Workspace
from memory.records import EntryKind
from models.chat.overflow import OverflowFigures
from models.chat.port import AnswerError
from models.settings import ModelSettings
from tests.agent.sessions import asked, environment_of, only, open_session, turn
from tests.loopback import Loopback, Received, Reply, chat, json_reply
from tests.servers import Scripted, llama_server, scripted_llama  # noqa: F401 (fixtures)

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

STATED = {
    "llama.cpp": "request ({prompt} tokens) exceeds the available context size ({window} tokens), try increasing it",
    "LM Studio": "Trying to keep the first {prompt} tokens when context the overflows. However, the model is loaded "
    "with context length of only {window} tokens, which is not enough.",
    "vLLM": "This model's maximum context length is {window} tokens. However, you requested 9999 tokens ({prompt} in "
    "the messages, 1000 in the completion).",
    "Anthropic": "prompt is too long: {prompt} tokens > {window} maximum",
}
WINDOW = 6_000
SETTINGS = ModelSettings(window=20_000, tools=False, retries=0)


class StrictServer:
    """Answers what fits into `window` tokens of four characters, and rejects the rest with `text`."""

    def __init__(self, server: Loopback, text: str, window: int = WINDOW) -> None:
        self.rejected = 0
        self._text, self._window = text, window
        server.answers_all(self._reply)

    def _reply(self, received: Received) -> Reply:
        if not received.path.endswith("/chat/completions"):
            return json_reply({}, status=404)
        prompt = sum(len(str(message["content"])) for message in received.json["messages"]) // 4
        if prompt <= self._window:
            return chat("Noted.", prompt_tokens=prompt)
        self.rejected += 1
        message = self._text.format(prompt=prompt, window=self._window)
        return json_reply({"error": {"message": message, "type": "invalid_request_error"}}, status=400)


async def fill(session: Session, most: int = 30) -> list[Any]:
    """Sends messages until the server rejects one; that turn's events."""
    for number in range(most):
        seen = await turn(session, f"Line {number} of the log: " + f"the pump {number} ran at noon. " * 150)
        if any(isinstance(event, ContextOverflowed | TurnFailed) for event in seen):
            return seen
    raise AssertionError("nothing was rejected")


@pytest.mark.parametrize("name", STATED)
async def test_the_stated_window_is_learned_and_the_request_sent_once_more(
    workspace: Workspace, server: Loopback, tmp_path: Path, name: str
) -> None:
    strict = StrictServer(server, STATED[name])
    session = open_session(workspace, tmp_path, server, models=SETTINGS)
    seen = await fill(session)
    overflow, receipt = only(seen, ContextOverflowed), only(seen, Compacted).receipt
    assert (overflow.window, overflow.assumed, overflow.stated) == (WINDOW, 20_000, True)
    assert f"{WINDOW:,} tokens (20,000 were assumed)" in overflow.text
    assert receipt.cause == "overflow" and receipt.tokens_after < receipt.tokens_before
    assert strict.rejected == 1 and session.profile.window == WINDOW
    assert only(seen, AnswerStored).text == "Noted."
    first, second = (request.json["messages"] for request in asked(server)[-2:])
    assert len(json.dumps(second)) < len(json.dumps(first)) and second[-1]["role"] == "user"
    for number in range(4):  # the window is known now: nothing is rejected any more
        await turn(session, f"More {number}: " + "the pump ran at noon. " * 200)
    assert strict.rejected == 1
    await session.close()


async def test_every_message_is_stored_once_and_no_empty_answer_stays(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    StrictServer(server, STATED["llama.cpp"])
    session = open_session(workspace, tmp_path, server, models=SETTINGS)
    await fill(session)
    entries = [entry for entry in await session.branch.history(200) if entry.kind is EntryKind.MESSAGE]
    texts = [session.memory.passage(entry).text for entry in entries]
    assert texts.count("Noted.") == len(texts) // 2
    assert len({text for text in texts if text != "Noted."}) == len(texts) // 2
    await session.close()


@pytest.mark.parametrize("text", ["the input length exceeds the context length", "{prompt}: context overflow"])
async def test_where_no_window_is_stated_one_step_down_is_taken(
    workspace: Workspace, server: Loopback, tmp_path: Path, text: str
) -> None:
    strict = StrictServer(server, text)
    session = open_session(workspace, tmp_path, server, models=SETTINGS)
    seen = await fill(session)
    overflow = only(seen, ContextOverflowed)
    assert not overflow.stated and WINDOW / 2 < overflow.window < 20_000
    assert "does not tell" in overflow.text and "It applies to this session," in overflow.text
    assert UsedModels.of(environment_of(tmp_path)).window(session.profile.spec, f"{server.address}/v1") is None
    assert strict.rejected == 1 and only(seen, AnswerStored)
    await session.close()


async def test_a_second_overflow_in_a_turn_ends_it(workspace: Workspace, server: Loopback, tmp_path: Path) -> None:
    strict = StrictServer(server, "the input length exceeds the context length", window=10)
    session = open_session(workspace, tmp_path, server, models=SETTINGS)
    seen = await turn(session, "Hello there, " + "and good morning. " * 400)
    failed = only(seen, TurnFailed)
    assert strict.rejected == 2 and failed.code == "too_large"
    assert "rejected it again" in failed.message and "/compact" in failed.hint
    await session.close()


async def test_a_stated_window_is_remembered_for_the_next_session(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    StrictServer(server, STATED["vLLM"], window=3_000)
    session = open_session(workspace, tmp_path, server, models=ModelSettings(tools=False, retries=0))
    await session.prepare_model()
    spec = session.profile.spec
    assert not session.profile.window_known
    used, address = UsedModels.of(environment_of(tmp_path)), f"{server.address}/v1"
    assert used.window(spec, address) is None
    overflow = only(await fill(session), ContextOverflowed)
    assert "is remembered for this model and address for 30 days" in overflow.text
    assert f"/model {spec} resets it" in overflow.text
    await session.close()
    kept = used.window(spec, address)
    assert kept is not None and kept.tokens == 3_000
    assert used.window(spec, "http://127.0.0.1:9/v1") is None
    again = open_session(workspace, tmp_path, server, models=ModelSettings(tools=False, retries=0))
    await again.prepare_model()
    assert again.profile.window == 3_000
    assert f"window 3,000, as reported by its server on {kept.time.astimezone():%Y-%m-%d}" in again.window_status
    await again.use_model(spec)
    assert again.profile.window > 3_000 and used.window(spec, address) is None
    await again.close()


async def test_a_figure_below_what_the_server_accepted_holds_for_the_session_alone(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    StrictServer(server, "prompt is too long: {prompt} tokens > 2000 maximum per minute", window=5_000)
    session = open_session(workspace, tmp_path, server, models=SETTINGS)
    overflow = only(await fill(session), ContextOverflowed)
    assert overflow.stated and overflow.window == 2_000
    assert "accepted more before, so 2,000 applies only to this session" in overflow.text
    used = UsedModels.of(environment_of(tmp_path))
    assert used.window(session.profile.spec, f"{server.address}/v1") is None
    await session.close()


async def test_a_longer_request_that_succeeds_ends_a_learned_window(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path, server, models=SETTINGS)  # models.window is set here
    spec, address = session.profile.spec, f"{server.address}/v1"
    used = UsedModels.of(environment_of(tmp_path))
    assert used.learn_window(spec, address, 3_000)
    server.answers_all(lambda _: chat("Noted.", prompt_tokens=2_900))
    await turn(session, "Hello.")
    assert used.window(spec, address)
    server.answers_all(lambda _: chat("Noted.", prompt_tokens=4_000))
    await turn(session, "Hello.")
    assert used.window(spec, address) is None
    await session.close()


async def test_llama_cpp_itself_is_believed(
    workspace: Workspace,
    tmp_path: Path,
    scripted_llama: Scripted,  # noqa: F811
) -> None:
    real = scripted_llama("Seven ships passed.", context=12_288)
    session = open_session(
        workspace, tmp_path, model=real.spec, models=ModelSettings(window=60_000, tools=False, retries=0)
    )
    seen = await fill(session)
    overflow = only(seen, ContextOverflowed)
    assert (overflow.window, overflow.stated) == (12_288, True)
    assert only(seen, AnswerStored).text == "Seven ships passed."
    assert only(seen, Compacted).receipt.cause == "overflow"
    await session.close()


class FakeLearningModel:
    """What a retry teaches a model: its counter, and its window."""

    def __init__(self) -> None:
        self.counter = self
        self.factors: list[float] = []
        self.windows: list[int] = []

    def learn(self, counted: int, actual: int) -> None:
        self.factors.append(actual / counted)

    def learn_window(self, window: int, *, stated: bool = True) -> None:
        self.windows.append(window)


def learned(figures: OverflowFigures, tokens: int) -> FakeLearningModel:
    """A rejected request of `tokens` in a window of 20,000."""
    model: Any = FakeLearningModel()
    report = ContextReport(
        model="m", window=20_000, reserve=4_096, total_tokens=tokens, layers=(), zones=(), messages=(), prefix_sha256=""
    )
    rejected = AnswerError(OVERFLOW, "Too long", "It is too long.", "", figures)
    assert OverflowRetry(ContextSettings()).learn(rejected, report, model) is not None
    return model


def test_a_figure_far_beyond_what_was_counted_is_not_believed() -> None:
    model = learned(OverflowFigures(window=8_000, prompt_tokens=9_000_000), 12_000)
    assert model.factors == [MOST_LEARNED]


def test_a_window_into_which_the_request_fits_is_stepped_down_from() -> None:
    model = learned(OverflowFigures(window=16_000), 9_000)
    assert model.windows == [int(STEP * (9_000 + 4_096))]
    assert learned(OverflowFigures(window=8_000), 9_000).windows == [8_000]
