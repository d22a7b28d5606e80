"""What one can do with a block or a message of the transcript."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from textual.screen import Screen

from agent.services.browse import BrowseRow
from foundation.errors import PalimpsestError
from foundation.figures import counted
from foundation.terminal_text import visible_line
from models.excerpts import labelled_output
from tui.chat.version_block import undo_version, undone_block, version_number
from tui.internal_errors import in_thread
from tui.typed_app import app_of
from tui.widgets.status import clip
from tui.widgets.transcript.block import Block, BlockExcerpt, BlockText, find_block
from tui.widgets.transcript.focus import FocusTarget
from tui.widgets.transcript.items import AnswerBlock, ErrorItem, TranscriptItem, UserItem, fold_middle
from tui.widgets.transcript.recalled import RecalledLine, RecalledLines
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from models.messages import RecalledSpan
    from tui.chat.controller import ChatController

NO_TURN: Final = "The output of a command is not part of a turn."
NO_MESSAGE: Final = "Its message is not loaded yet. Ctrl+Home loads it."
NO_RESEND: Final = "r edits and resends a message. Go to the message or to its answer first."
BUSY: Final = "An answer is in progress. Esc in the prompt stops it."
QUOTED: Final = 30  # cells of a message in a question
MAX_QUOTED: Final = 400_000  # characters that are put into the prompt
TOO_LONG: Final = "{:,} characters are too long for a message. Save them to a file, then /archive FILE."
BOOKMARK: Final = "★"


class BlockActions:
    """Carries the actions out. `controller` gives None before the session is open."""

    def __init__(
        self,
        screen: Screen[None],
        transcript: Transcript,
        controller: Callable[[], "ChatController | None"],
        cite: Callable[[str], None],
        quote: Callable[[str], None],
    ) -> None:
        """`cite` puts a citation into the prompt, `quote` a text, which is folded where it is long."""
        self._screen = screen
        self._transcript = transcript
        self._controller = controller
        self._cite = cite
        self._quote = quote
        self._asked_about: FocusTarget | None = None  # the target whose deletion waits for its second key

    def names(self, target: FocusTarget) -> list[str]:
        """The actions of a target, as the footer shows them."""
        item = target.first
        if self._asked_about is not None and self._asked_about.holds(item):
            return [f"d again deletes {self._what_goes(target)}"]
        match item:
            case Block(read=None):
                opening: list[str] = []
            case Block(is_open=True):
                opening = ["Enter fold", "e whole"]
            case Block():
                opening = ["Enter open", "e whole"]
            case RecalledLine() | RecalledLines():
                opening = ["Enter open"]
            case _:
                opening = ["e whole"]
        turn = [] if self._turn_of(target) is None else ["b branch", "m bookmark", "d delete"]
        message = ["r edit and resend"] if turn and isinstance(item, UserItem | AnswerBlock) else []
        is_change = version_number(item) is not None
        back = ["u undo the change"] if is_change else ["u undo delete"] if self._dropped else []
        return [*back, *opening, "c copy", "i quote", *message, *turn]

    async def act(self, action: str, target: FocusTarget) -> bool:
        """Carries an action out. False where the prompt has the keys next."""
        asked, self._asked_about = self._asked_about, None
        match action:
            case "open":
                await self.toggle(target.first)
            case "whole":
                self._show_whole(target)
            case "copy":
                await self._copy(target)
            case "quote":
                await self._put_into_prompt(target)
                return False
            case "bookmark":
                await self._bookmark(target)
            case "resend" if isinstance(target.first, UserItem | AnswerBlock):
                return not self._change(target, "/branch {}")
            case "resend":
                self._say(NO_RESEND)
            case "branch":
                return not self._change(target, "/branch after {}")
            case "delete" if asked is None or not asked.holds(target.first):
                self._ask_about(target)
            case "delete":
                return not self._change(target, "/tree drop {}")
            case "undelete":
                return await self._undelete(target)
            case _:
                pass
        return True

    async def toggle(self, item: TranscriptItem) -> None:
        """Opens or folds a block; opens the passage of a recalled line, and a long message as a whole."""
        match item:
            case Block(is_open=True):
                self._replace(item, item.closed())
            case Block(read=read) if read is not None:
                self._replace(item, item.opened(await self._excerpt(item)))
            case RecalledLines(others=others):
                self._keep_view()
                self._transcript.replace_item(item, others)
                self._transcript.focus_on(FocusTarget((others[0],)))
            case RecalledLine(span=span):
                self._open_passage(span)
            case UserItem(text=text) if fold_middle(text)[1]:
                self._show_whole(FocusTarget((item,)))
            case _:
                pass

    async def _excerpt(self, block: Block) -> BlockExcerpt:
        try:
            assert block.read is not None
            return BlockExcerpt.of(await in_thread(block.read))
        except PalimpsestError as error:
            return BlockExcerpt("", note=f"{error.title}: {error.message}")

    def _replace(self, item: Block, block: Block) -> None:
        present = find_block(self._transcript.line_cache.items, item.key)  # it may have changed while it was read
        if present is not None:
            self._put(present, present.opened(block.shown) if block.shown else present.closed())

    def _put(self, present: Block, new: Block) -> None:
        self._keep_view()
        self._transcript.replace_item(present, [new])
        self._transcript.focus_on(self._transcript.focused and FocusTarget((new,)))

    def _keep_view(self) -> None:
        """What opens stays where it is, also at the end of the transcript."""
        self._transcript.is_following = False

    def _show_whole(self, target: FocusTarget) -> None:
        from tui.passages.text_screen import TextScreen

        match target.first:
            case Block(read=read, name=name) if read is not None:
                app_of(self._screen).push_screen(TextScreen(name, read))
            case Block():
                pass
            case RecalledLine(span=span):
                self._open_passage(span)
            case _:
                whole = BlockText(self._text_of(target))
                answer = "The answer" if target.has_turn else "The command's output"
                title = "Your message" if isinstance(target.first, UserItem) else answer
                app_of(self._screen).push_screen(TextScreen(title, lambda: whole))

    def _open_passage(self, span: "RecalledSpan") -> None:
        from tui.passages.screen import PassageScreen

        if (controller := self._controller()) is None:
            return
        session = controller.session
        screen = PassageScreen(session.memory, row_of_span(span), session.config.screen.pictures)
        app_of(self._screen).push_screen(screen, lambda citation: self._cite(citation) if citation else None)

    async def _copy(self, target: FocusTarget) -> None:
        if (text := await self._whole_text(target)) is not None:
            app_of(self._screen).copy_to_clipboard(text)
            self._say(f"Copied {len(text):,} characters.")

    async def _put_into_prompt(self, target: FocusTarget) -> None:
        """Puts the text behind a block, with its name, or a message into the prompt."""
        if (text := await self._whole_text(target)) is not None:
            if len(text) > MAX_QUOTED:
                self._say(TOO_LONG.format(len(text)))
                return
            item = target.first
            is_output = isinstance(item, Block) and item.key.startswith(("call:", "shell:"))
            name = item.name if isinstance(item, Block) else ""
            self._quote(labelled_output(name, text) if is_output else f"{name}\n\n{text}" if name else text)

    async def _whole_text(self, target: FocusTarget) -> str | None:
        """The text behind a block, or of a message; None where it cannot be read, which is told."""
        item = target.first
        if not isinstance(item, Block) or item.read is None:
            return self._text_of(target)
        try:
            return (await in_thread(item.read)).text
        except PalimpsestError as error:
            self._say(f"{error.title}: {error.message}")
            return None

    def _text_of(self, target: FocusTarget) -> str:
        if target.is_answer:
            return "\n\n".join(block.block.source.strip("\n") for block in self._answer(target))
        match target.first:
            case ErrorItem(title=title, message=message, hint=hint):
                return "\n".join(filter(None, (title, message, hint)))
            case item:
                return str(getattr(item, "text", ""))

    def _answer(self, target: FocusTarget) -> list[AnswerBlock]:
        items = self._transcript.line_cache.items
        lines = target.item_range(self._transcript.line_cache)
        return [item for item in items[lines.start : lines.stop] if isinstance(item, AnswerBlock)]

    # The turn of a block

    def _turn_of(self, target: FocusTarget) -> str | None:
        """The id of the message that its turn begins with; None where it is not shown, or not stored."""
        index = self._message_index(target)
        message = self._transcript.line_cache.items[index] if index is not None else None
        return (message.entry or None) if isinstance(message, UserItem) else None

    def _message_index(self, target: FocusTarget) -> int | None:
        """Where in the transcript the message is that its turn begins with; None where it has none, or it is above."""
        if not target.has_turn:
            return None
        items, index = self._transcript.line_cache.items, self._transcript.line_cache.index_of(target.first)
        above = range(index, -1, -1) if index is not None else ()
        return next((number for number in above if isinstance(items[number], UserItem)), None)

    def _change(self, target: FocusTarget, line: str) -> bool:
        """Runs a command about the turn, which changes the conversation. False where it cannot."""
        if (turn := self._turn_of(target)) is None:
            self._say(NO_MESSAGE if target.has_turn else NO_TURN)
            return False
        return self._run(line.format(turn))

    # Deleting a turn

    def _ask_about(self, target: FocusTarget) -> None:
        """Has the footer say what goes, until `d` is pressed again."""
        if self._turn_of(target) is None:
            self._say(NO_MESSAGE if target.has_turn else NO_TURN)
        else:
            self._asked_about = target

    def forget_question(self) -> None:
        """The next `d` asks again: the focus moved."""
        self._asked_about = None

    def _what_goes(self, target: FocusTarget) -> str:
        """What leaves the conversation with the target's turn: `your message, its answer and 2 turns after it`."""
        items, index = self._transcript.line_cache.items, self._message_index(target)
        rest = items[index + 1 :] if index is not None else ()
        later = [number for number, item in enumerate(rest) if isinstance(item, UserItem)]
        own = rest[: later[0]] if later else rest
        message = items[index] if index is not None else None
        quoted = ""
        if isinstance(target.first, ErrorItem) and isinstance(message, UserItem):  # a command may have failed after it
            quoted = f" “{clip(visible_line(message.text), QUOTED)}”"
        answered = any(isinstance(item, AnswerBlock) and not item.of_command for item in own)
        parts = [f"your message{quoted}", *(["its answer"] if answered else [])]
        controller = self._controller()
        if controller is not None and controller.history.has_more_below:
            parts.append("all turns after it")
        elif later:
            parts.append(f"{counted(len(later), 'turn')} after it")
        return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

    @property
    def _dropped(self) -> str:
        """The turn of the open conversation that was last dropped; "" for none."""
        controller = self._controller()
        return controller.session.branch.dropped if controller else ""

    def _run(self, line: str) -> bool:
        controller = self._controller()
        if controller is None or not controller.run_between_turns(line):
            self._say(BUSY)
            return False
        return True

    async def _undelete(self, target: FocusTarget) -> bool:
        """Takes back the change that the target is about, or what was deleted. False where the prompt has the keys."""
        if version_number(target.first) is not None:
            await self._undo_change(target.first)
        elif self._dropped and self._run(f"/tree restore {self._dropped}"):
            return False
        return True

    async def _undo_change(self, item: TranscriptItem) -> None:
        """Takes back what a model changed in the notes or the like; its receipt says so from then on."""
        controller, number = self._controller(), version_number(item)
        if controller is None or number is None or not isinstance(item, Block):
            return
        try:
            sentence = await undo_version(controller.session.memory, number)
        except PalimpsestError as error:
            self._say(f"{error.message} {error.hint}".strip())
            return
        self._put(item, undone_block(item, sentence))

    async def _bookmark(self, target: FocusTarget) -> None:
        """Labels the turn in the tree, or removes the label that this gave it."""
        from agent.commands import registry
        from agent.commands.results import CommandFailed

        controller, turn = self._controller(), self._turn_of(target)
        if controller is None or turn is None:
            self._say(NO_MESSAGE if target.has_turn else NO_TURN)
            return
        conversation = controller.session.conversation
        labels = conversation.labels if conversation else ()
        is_marked = f"turn:{turn}={BOOKMARK}" in labels
        outcome = await registry.run(controller.session, f"/tree label {turn} {'' if is_marked else BOOKMARK}")
        if isinstance(outcome, CommandFailed):
            self._say(outcome.error.message)
        else:
            self._say("Bookmark removed." if is_marked else f"Bookmarked: {BOOKMARK} in /tree.")

    def _say(self, text: str) -> None:
        self._screen.notify(visible_line(text), timeout=4, markup=False)


def row_of_span(span: "RecalledSpan") -> BrowseRow:
    """The row that a passage's screen opens."""
    cited = span.citation
    return BrowseRow(
        id=cited.ref,
        kind=cited.kind,
        conversation=cited.conversation,
        title=cited.title,
        who=cited.speaker,
        time=span.time,
        trust=span.trust,
        snippet=span.text,
        citation=str(cited),
    )
