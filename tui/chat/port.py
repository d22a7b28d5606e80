"""The port of the chat screen, and the dialogs that the events of a turn open through it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from agent.commands.results import Choices, OpenNamedScreen, OpenPicker, Proposal
from agent.events import (
    AnswerStored,
    CallLimitReached,
    PermissionRequested,
    PlanUpdated,
    QuestionAsked,
    SessionEvent,
    SpendingLimitReached,
)
from agent.permissions.action import PermissionAnswer
from agent.services.plan_mode import ask_about_plan
from foundation.errors import PalimpsestError
from tui.widgets.status import StatusBar
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from agent.permissions.policy import Policy
    from agent.session import Session
    from context.checklist import Checklist
    from context.report import ContextReport
    from memory.memory import Memory
    from tui.chat.history_window import HistoryWindow
    from tui.images.protocol import GraphicsProtocol
    from tui.picker.browser import PickerChoice
    from tui.search.controller import EntryTarget


class ChatPort(Protocol):
    """The port of the screen for ChatController."""

    transcript: Transcript
    status: StatusBar

    async def ask_permission(self, request: PermissionRequested) -> PermissionAnswer: ...

    async def confirm_more(self, request: CallLimitReached | SpendingLimitReached) -> bool: ...

    async def ask_question(self, request: QuestionAsked) -> str: ...

    def show_plan(self, plan: "Checklist | None") -> None: ...

    def update_plan(self, plan: "Checklist") -> None: ...

    def read_next_request(self) -> None:
        """Shows the figures of the open conversation's next request, once they are counted."""
        ...

    async def show_changes(self) -> None:
        """Shows which files the turn changed."""
        ...

    def take_event(self, event: SessionEvent) -> None: ...

    def forget_turn(self, *, keeps_meter: bool = False) -> None: ...

    def show_report(self, report: "ContextReport") -> None: ...

    def read_figures(self) -> None: ...

    def begin_turn(self) -> None: ...

    def end_turn(self) -> None: ...

    async def choose(self, choices: Choices) -> str | None: ...

    async def ask_key(self, service: str, session: "Session") -> str: ...

    async def confirm(self, proposal: Proposal) -> bool: ...

    async def open_search(
        self, memory: "Memory", text: str, pictures: str, can_switch: Callable[[], bool], *, whole: bool = False
    ) -> "EntryTarget | None": ...

    async def open_picker(self, session: "Session", opened: OpenPicker) -> "PickerChoice": ...

    async def open_named(self, session: "Session", opened: OpenNamedScreen) -> str: ...

    def save_draft(self) -> None: ...

    def graphics_protocol(self, setting: str) -> "GraphicsProtocol": ...

    def empty_prompt(self) -> None: ...

    def return_to_prompt(self, texts: list[str]) -> int: ...

    def keys_held(self) -> AbstractAsyncContextManager[None]: ...

    def return_unsent(self, texts: list[str]) -> None: ...

    def save_draft_soon(self) -> None: ...

    def copy_to_clipboard(self, text: str, description: str) -> None: ...

    def show_title(self, title: str | None) -> None: ...

    def show_rewriting(self, message: str) -> None: ...

    def show_opening(self, name: str) -> None: ...

    async def restore_draft(self) -> None: ...

    @property
    def leave(self) -> Callable[[], None]: ...


class CommandChat(Protocol):
    """What commands need of the chat's controller."""

    session: "Session"
    history: "HistoryWindow"

    async def return_to_newest(self) -> None: ...

    async def send(self, text: str, skill: str, *, again: bool = False) -> None: ...

    async def search(self, text: str = "", *, by_command: bool = False, whole: bool = False) -> None: ...

    async def show_entry(self, seq: int, query: str) -> None: ...

    async def show_conversation(self, conversation_before: str = "", *, keeps_meter: bool = False) -> None: ...

    def show_mode(self) -> None: ...

    def show_error(self, error: PalimpsestError) -> None: ...


async def answer_event(view: ChatPort, event: SessionEvent, policy: "Policy", add: Callable[[str], object]) -> None:
    """Shows the dialog that the event needs, and the plan that it brings. `add` queues a message."""
    view.take_event(event)
    match event:
        case PermissionRequested(answer=answer) if not answer.done():
            _answer(event, await view.ask_permission(event))
        case CallLimitReached(answer=answer) | SpendingLimitReached(answer=answer) if not answer.done():
            _answer(event, PermissionAnswer(await view.confirm_more(event)))
        case QuestionAsked(answer=answer) if not answer.done():
            words = await view.ask_question(event)
            if not answer.done():  # the turn may have been stopped meanwhile
                answer.set_result(words)
        case AnswerStored(text=text):
            if message := await ask_about_plan(policy, text, lambda asked: answer_event(view, asked, policy, add)):
                add(message)
                view.status.update_info(mode=policy.mode.value)
        case PlanUpdated(plan=plan):
            view.update_plan(plan)
        case _:
            pass


def _answer(request: PermissionRequested | CallLimitReached | SpendingLimitReached, answer: PermissionAnswer) -> None:
    """Answers the question, if stopping the turn has not."""
    if not request.answer.done():
        request.answer.set_result(answer)
