"""Says the events of a turn in lines."""

from collections.abc import Callable
from functools import partial
from typing import Final

from agent import events
from agent.events import SessionEvent
from agent.services.prompt_progress import PromptProgress
from agent.services.tool_outcome import tool_outcome
from agent.services.turn_sentences import EMPTY_ANSWER, ENDINGS, WITHDRAWN, epoch_notice, recalled_line, reduction_line
from agent.spending.budget import OFFLINE
from context.checklist import Checklist
from foundation.figures import counted, elapsed, short_count
from foundation.terminal_text import visible_code_line
from models.chat.errors import KEPT
from models.messages import RecalledSpan, Usage
from models.recalled import by_relevance
from tui.screen_reader.markdown import LinearMarkdown
from tui.screen_reader.output import LineOutput
from tui.screen_reader.wait_notices import Waiting

MAX_RECALLED: Final = 3  # passages that are said


class TurnLines:
    """One turn. Call `take` with each event, in order. `cost` gives the price of a usage in words, "" where unknown."""

    def __init__(
        self,
        output: LineOutput,
        waiting: Waiting,
        *,
        known: frozenset[str] = frozenset(),
        quotes: bool = False,
        cost: Callable[[Usage], str] = lambda _: "",
        whole: Callable[[str, str], str] = lambda _conversation, _entry: "",
    ) -> None:
        """`quotes`: the answer quotes what was recalled, which is not said besides. `known` are changes of the request
        that need no notice. `whole` reads a tool's whole output by the ids of its conversation and its entry.
        """
        self._output = output
        self._waiting = waiting
        self._progress = PromptProgress()
        self._known = known
        self._quotes = quotes
        self._cost = cost
        self._whole = whole
        self._conversation = ""  # its id
        self._markdown: LinearMarkdown | None = None
        self._reasoning: list[str] = []
        self._reasoning_seconds = 0.0
        self._summaries: dict[str, str] = {}  # by the call's id
        self.failed = False  # whether the turn ended without an answer

    def take(self, event: SessionEvent) -> None:
        match event:
            case events.TextDelta(text=text):
                self._take_text(text)
            case events.ReasoningDelta(text=text, seconds=seconds):
                self._reasoning.append(text)
                self._reasoning_seconds = seconds
                self._waiting.show(f"thinking, {short_count(sum(map(len, self._reasoning)))} characters")
            case events.TextWithdrawn(text=text):
                self._markdown = None
                self._reasoning.append(text)
                self._output.say(f"Notice: {WITHDRAWN}")
            case events.Recall(recalled=recalled):
                self._say_recalled(() if self._quotes else recalled)
            case events.PlanUpdated(plan=plan):
                self._output.say(*plan_lines(plan))
            case events.AnswerStored() | events.Stopped() | events.TurnFailed():
                self._finish(event)
            case _:
                self._take_waiting(event)

    def _take_waiting(self, event: SessionEvent) -> None:
        match event:
            case events.ContextReady(unread=unread, tokens_per_second=speed):
                self._end_parts()
                self._progress.begin(unread, speed)
                self._show_reading("connecting to the model")
            case events.ModelConnected():
                self._show_reading("waiting for the first words")
            case events.Prefill(done=done, total=total):
                self._progress.take(done, total)
                self._show_reading("waiting for the first words")
            case events.CallWritten(tool=tool, chars=chars):
                self._waiting.show(f"writing the arguments of {tool}, {short_count(chars)} characters")
            case events.UserStored(conversation=conversation):
                self._conversation = conversation
                self._waiting.show("searching memory")
            case events.Archiving(names=names):
                self._waiting.show(f"archiving {', '.join(names)}")
            case events.Summarising():
                self._waiting.show("summarising older turns")
            case _:
                self._take_notice(event)

    def _show_reading(self, otherwise: str) -> None:
        """Shows how far the server reports the prompt as read; before a report, and after its end, `otherwise`."""
        figures = self._progress.figures
        if not figures or self._progress.is_read:
            self._waiting.show(otherwise)
        elif self._progress.is_reported:
            self._waiting.show(f"reading, {figures} tokens", self._progress.left)
        else:
            self._waiting.show(f"{otherwise}, {figures}", self._progress.left)

    def _take_notice(self, event: SessionEvent) -> None:
        say = self._output.say
        match event:
            case events.Notice(level=level, text=text):
                say(f"{'Notice' if level == 'info' else level.capitalize()}: {text}")
            case events.Retrying():
                self._waiting.show(event.summary)
                if event.number:
                    say(f"Notice: {event.text}.")
            case events.WordsHidden() | events.ContextOverflowed():
                say(f"Warning: {event.text}")
            case events.EpochChanged(reason=reason):
                if notice := epoch_notice(reason, known=self._known):
                    say(f"Notice: {notice}")
            case events.Compacted(receipt=receipt):
                say(f"Receipt: {receipt.text}")
            case events.ResultsReduced(receipt=receipt):
                reduced = "\n".join(map(reduction_line, receipt.reductions))
                say(f"Receipt: {receipt.text} {self._output.fold('What was reduced', lambda: reduced)} reads it.")
            case events.VersionMade():
                say(f"Receipt: {event.text}. /memory undo reverts it.")
            case events.CheckpointMade(record=record):
                files = counted(len(record.files), "file")
                say(f"Checkpoint: {files} can be restored with /undo.")
            case _:
                self._take_tool(event)

    def _take_tool(self, event: SessionEvent) -> None:
        match event:
            case events.ToolStarted(summary=summary, call=call):
                self._end_parts()
                self._summaries[call.id] = visible_code_line(summary)
                self._waiting.show(f"running {call.name}, {self._summaries[call.id]}")
            case events.PermissionDenied(call=call, reason=reason):
                self._output.say(f"{self._tool(call.id, call.name)}: not done. {reason}")
            case events.ToolFinished(call=call, shown=shown, chars=chars, failed=failed, entry=entry):
                if (outcome := tool_outcome(call.name, shown, chars, failed=failed)) is None:
                    return
                title = self._tool(call.id, call.name)
                state = outcome.sentence if failed else f"done, {outcome.sentence}"
                is_all = shown.strip() in {"", outcome.sentence}
                read = partial(self._whole, self._conversation, entry)
                more = "" if is_all else f" {self._output.fold(title, read)} reads its {counted(chars, 'character')}."
                self._output.say(f"{title}: {state.rstrip('.')}.{more}")
            case _:
                pass

    def _tool(self, call: str, name: str) -> str:
        summary = self._summaries.get(call, "")
        return f"Tool {name}, {summary}" if summary and summary != name else f"Tool {name}"

    def _take_text(self, text: str) -> None:
        self._end_reasoning()
        if self._markdown is None:
            if not text.strip():
                return
            self._output.say("Answer:")
            self._markdown = LinearMarkdown(self._output.say, self._output.fold)
        self._markdown.feed(text)
        self._waiting.show("answering")

    def _end_parts(self) -> None:
        self._end_reasoning()
        if self._markdown is not None:
            self._markdown.end()
            self._markdown = None

    def _end_reasoning(self) -> None:
        if not self._reasoning:
            return
        text, self._reasoning = "".join(self._reasoning), []
        spent = f", {elapsed(round(self._reasoning_seconds))}" if self._reasoning_seconds >= 1 else ""
        opens = self._output.fold("Reasoning", lambda: text)
        self._output.say(f"Reasoning, {counted(len(text), 'character')}{spent}: {opens} reads it.")

    def _say_recalled(self, spans: tuple[RecalledSpan, ...]) -> None:
        passages = [span for span in by_relevance(spans) if not span.beside]
        for span in passages[:MAX_RECALLED]:
            line, text = recalled_line(span, 0).replace(" · ", ", "), span.text
            self._output.say(
                f"Recalled: {line}. {self._output.fold(f'Recalled, {line}', lambda text=text: text)} reads it."
            )
        if len(passages) > MAX_RECALLED:
            rest = "\n\n".join(f"{recalled_line(span, 0)}\n{span.text}" for span in passages[MAX_RECALLED:])
            opens = self._output.fold("Other passages that were recalled", lambda: rest)
            self._output.say(f"Recalled: {len(passages) - MAX_RECALLED} more. {opens} reads them.")

    def _finish(self, event: events.AnswerStored | events.Stopped | events.TurnFailed) -> None:
        self._end_parts()
        self._waiting.show("")
        self.failed = not isinstance(event, events.AnswerStored)
        say = self._output.say
        match event:
            case events.AnswerStored(text=text, reason=reason, usage=usage, model=model):
                if not text.strip():
                    say(EMPTY_ANSWER)
                elif reason in ENDINGS:
                    say(f"The answer was {ENDINGS[reason]}.")
                say("End of answer." if model == OFFLINE else f"End of answer: {self._usage(usage)}.")
            case events.Stopped(text=text):
                say("Stopped. The partial answer is saved." if text else "Stopped.")
            case events.TurnFailed(title=title, message=message, hint=hint, text=text):
                say(error_line(title, message, hint))
                if text and not hint.startswith(KEPT):
                    say("The partial answer is saved.")
        self._output.ring()

    def _usage(self, usage: Usage) -> str:
        parts = [f"{usage.prompt_tokens:,} tokens read", f"{usage.completion_tokens:,} written", self._cost(usage)]
        return ", ".join(filter(None, parts))


def error_line(title: str, message: str, hint: str) -> str:
    """An error as one line."""
    return " ".join(filter(None, (f"Error: {title}.", message, hint)))


def plan_lines(plan: Checklist) -> list[str]:
    """The steps of a plan with their states."""
    steps = [f"Step {n}, {step.state.value}: {step.text}" for n, step in enumerate(plan.steps, 1)]
    return [f"Plan, {counted(len(steps), 'step')}:", *steps]
