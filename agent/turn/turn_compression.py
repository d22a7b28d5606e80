"""After a turn: its summary for later, where use_compression is on. The extract costs no model call."""

import asyncio

from agent.turn.summariser import ExtractiveSummariser
from context import Context
from context.compaction.summary_port import SummaryPort, WrittenSummary
from foundation.errors import PalimpsestError
from memory.records import Conversation
from models.chat.port import TokenCounter


class TurnCompression:
    """Summarises the turns of the open conversation that have no summary yet. A turn that is missed is made up for by
    the next one."""

    def __init__(self, context: Context, summariser: SummaryPort | None) -> None:
        """`summariser` is a model; None for the extract."""
        self._context = context
        self._summariser = summariser or ExtractiveSummariser()
        self._task: asyncio.Task[WrittenSummary] | None = None
        self._warning = ""

    @property
    def status(self) -> str:
        """For the status bar; "" where nothing is written."""
        return "summarising the turn" if self._task else ""

    def take_warning(self) -> tuple[str, ...]:
        """Why the last summary failed, or is not by the model; given once."""
        warning, self._warning = self._warning, ""
        return (warning,) if warning else ()

    async def run(self, conversation: Conversation | None, counter: TokenCounter) -> None:
        """Writes and stores the summary of what no summary covers. Does nothing where it is switched off."""
        if conversation is None:
            return
        try:
            plan = await asyncio.to_thread(self._context.plan_turn_summary, conversation.seq, counter)
            if plan is None:
                return
            self._task = writing = asyncio.create_task(self._summariser.write(plan.task))
            await asyncio.wait([writing])
            if not writing.cancelled():
                written = writing.result()
                await asyncio.to_thread(self._context.store_turn_summary, plan, written)
                self._warning = written.warning
        except (PalimpsestError, OSError) as error:
            self._warning = f"The turn was not summarised: {error}"
        finally:
            self.stop()
            self._task = None

    def stop(self) -> None:
        """Stops the model that writes. Does nothing where none does."""
        if self._task is not None:
            self._task.cancel()
