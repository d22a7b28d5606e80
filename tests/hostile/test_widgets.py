"""Every widget, screen and piece of the chat shows foreign text through the sanitiser; a new one needs a case here."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets._toast import Toast

import tui
from agent.config.settings import all_settings
from agent.mcp.server_state import ServerState
from agent.permissions.action import Access, Action, PersonQuestion
from agent.permissions.policy import Decision, Policy
from agent.permissions.rules import Rule, RuleSet, Verdict
from agent.services.browse import BrowseRow
from agent.services.context_view import ContextView
from agent.services.conversation_tree import set_turn_label
from agent.services.settings import SettingRow
from agent.services.statistics_view import DaySeries, DiskSize, Saving, StatisticsView
from agent.spending.report import SpendingReport, Spent
from context.assembly.parts import RequestPart
from context.checklist import Checklist, PlanStep, StepState
from context.report import ContextReport, DroppedSource, LayerReport, SourceReport
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from foundation.terminal_text import visible_line
from foundation.trust import Trust
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.chat.port import Profile
from models.messages import Role, Text
from tests.hostile.payloads import FORBIDDEN, escapes, sample
from tests.tui.conftest import Open, open_chat  # noqa: F401 - a fixture
from tests.tui.fakes import NOW, RECALLED, REPORT, FakeSession, answer
from tests.tui.overview.ports import CLAUDE, QWEN, GivenModels, GivenServers, status, tool
from tui.dialogs.choices import ChoiceItem, ChoicesScreen
from tui.dialogs.confirm import GoOnScreen, ProposalScreen
from tui.dialogs.line import LineScreen
from tui.dialogs.permission import PermissionScreen
from tui.dialogs.question import QuestionScreen
from tui.dialogs.trust import ChangesScreen, LinkScreen, ServerScreen, TrustScreen
from tui.images.attached import AttachmentPreview
from tui.images.protocol import GraphicsProtocol
from tui.overview.archive_screen import ArchiveScreen
from tui.overview.context_screen import ContextScreen
from tui.overview.edit_screen import EditScreen
from tui.overview.memory_screen import MemoryScreen
from tui.overview.models_screen import ModelsScreen
from tui.overview.permissions_screen import PermissionsScreen
from tui.overview.servers_screen import ServersScreen
from tui.overview.statistics_screen import StatisticsScreen
from tui.palette.rows import PaletteRow
from tui.palette.screen import PaletteScreen
from tui.passages.image_screen import ImageFileScreen
from tui.passages.page_screen import PictureScreen
from tui.passages.screen import NoteScreen, PassageScreen
from tui.passages.text_screen import TextScreen
from tui.picker.browser import PickerSource
from tui.picker.delete_dialog import DeleteScreen
from tui.picker.screen import PickerScreen
from tui.picker.turns import TurnLevel
from tui.search.screen import SearchScreen
from tui.settings.screen import SettingsScreen
from tui.widgets.plan_panel import PlanPanel
from tui.widgets.prompt.suggestions import Suggestion, Suggestions
from tui.widgets.query_input import QueryInput
from tui.widgets.side_panel import PanelRow, SidePanel
from tui.widgets.title_line import TitleLine
from tui.widgets.transcript.block import Block, BlockExcerpt, BlockText
from tui.widgets.transcript.items import AnswerBlock, ErrorItem, MutedLine, UserItem, Welcome
from tui.widgets.transcript.line_numbers import numbered_items
from tui.widgets.transcript.recalled import RecalledLine, RecalledLines
from tui.widgets.transcript.splitter import MarkdownSplitter
from tui.widgets.transcript.styles import TranscriptStyles

pytestmark = pytest.mark.timeout(60)
LOOK = TranscriptStyles.of_theme({}, Style())
FEW = 3
MANY = 24  # in the soak
CONTROL_OF_PICTURES = "a picture's cells and a terminal's own picture protocols: bytes of ours, from pixels"


# ── pieces of the transcript ──


def answered(text: str) -> list[AnswerBlock]:
    """An answer of Markdown in which the text stands in every place."""
    source = (
        f"# {text}\n\n{text} **{text}** `{text}` [{text}](http://{text}) ![{text}](x{text})\n\n- {text}\n  - {text}\n\n"
        f"> {text}\n\n1. {text}\n\n```{text}\n{text}\n```\n\n| {text} | b |\n|---|---|\n| {text} | {text} |\n\n"
        f"    {text}\n"
    )
    splitter = MarkdownSplitter()
    blocks = [*splitter.feed(source), *splitter.close()]
    return [AnswerBlock(block, first=True) for block in blocks]


def report(text: str) -> ContextReport:
    layer = LayerReport(text, 1, 2, (SourceReport(text, 3),), (DroppedSource(text, 4, text),))
    return ContextReport(
        model=text,
        window=9,
        reserve=1,
        total_tokens=2,
        layers=(layer,),
        zones=(),
        messages=(),
        prefix_sha256="",
        unchanged_prefix_tokens=REPORT.unchanged_prefix_tokens,
        previous_tokens=REPORT.previous_tokens,
    )


def opened(text: str) -> list[Block]:
    """Blocks of the text, closed and open, in colours of a diff, of Markdown and of none."""
    closed = Block(key=text, rows=(MutedLine(text, prefix="▸ "), MutedLine(text)), title=text)
    notes = [closed.opened(BlockExcerpt("", note=text))]
    return [closed, *notes, *(closed.opened(BlockExcerpt.of(BlockText(text, of))) for of in ("", "diff", "markdown"))]


PIECES = {
    Block: opened,
    RecalledLine: lambda text: [RecalledLine(MutedLine(text), RECALLED[0])],
    RecalledLines: lambda text: [RecalledLines(MutedLine(text), ())],
    UserItem: lambda text: [UserItem(text, note=text)],
    AnswerBlock: answered,
    MutedLine: lambda text: [MutedLine(text)],
    ErrorItem: lambda text: [ErrorItem(text, text, text)],
    Welcome: lambda text: [Welcome(text, text, text, text, first=True)],
    type(numbered_items("a")[0]): lambda text: numbered_items(text),
    AttachmentPreview: lambda text: [AttachmentPreview(None, text, GraphicsProtocol.OFF)],
}


def shown(segments: list[Segment]) -> str:
    """The words, and the addresses that a terminal would open."""
    return "".join(f"{each.text}{(each.style and each.style.link) or ''}" for each in segments)


def breaks_out(text: str) -> list[str]:
    return FORBIDDEN.findall(text)


def test_no_piece_of_the_transcript_shows_what_a_terminal_obeys() -> None:
    assert _pieces_shown(sample(60)) > 60 * len(PIECES)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_no_piece_shows_any_payload() -> None:
    assert _pieces_shown(list(escapes())) > 500 * len(PIECES)


def _pieces_shown(payloads: list[str]) -> int:
    lines = 0
    for text in payloads:
        for kind, made in PIECES.items():
            for width in (20, 80):
                for line in (line for piece in made(text) for line in piece.lines(width, LOOK)):
                    assert breaks_out(shown(line)) == [], (kind, text)
                    assert "\n" not in shown(line)
                    lines += 1
    return lines


# ── widgets and screens ──


def row(text: str, **more: Any) -> BrowseRow:
    return BrowseRow(
        id=text,
        title=text,
        who=text,
        time=NOW,
        trust=Trust.EXACT,
        snippet=f"zebra {text}",
        citation=text,
        duplicates=(text,),
        superseded_by=text,
        parts={text: 1.0},
        **more,
    )


def remembered(memory: Memory, texts: list[str]) -> None:
    """Conversations and notes of these texts, as an import or another program's file may bring them."""
    for text in texts:
        storable = text.encode("utf-8", "replace").decode()
        conversation = memory.cold.new_conversation(clear(f"zebra {storable}"))
        memory.cold.append(
            EntryDraft(
                conversation=conversation.seq,
                parent=None,
                kind=EntryKind.MESSAGE,
                role=Role.USER,
                speaker=clear(storable),
                text=clear(f"zebra {storable}"),
            )
        )
        memory.hot.remember(clear(f"zebra note {storable}"), heading=None, conversation=None)


def action(text: str) -> Action:
    return Action(tool=text, access=Access.RUN, summary=text, detail=text)


def picker_of(memory: Memory, text: str) -> PickerScreen:
    """By turns the list of conversations, and the turns of one in which the text is title, label and message."""
    label = clear(text.encode("utf-8", "replace").decode()[:40])
    conversation = next(iter(memory.conversations.recent(limit=1)))
    first = memory.conversations.first_entries(conversation.seq, 1)[0]
    conversation = set_turn_label(memory, conversation.seq, first.id, str(label))
    level = TurnLevel(memory, conversation) if len(text) % 2 else None
    return PickerScreen(PickerSource(memory=memory, opened=conversation), level)


def palette_rows(text: str) -> list[PaletteRow]:
    """Rows as they are made of names from elsewhere: of conversations, models and themes."""
    return [PaletteRow("Conversations", visible_line(text), visible_line(text), line=f"/resume {text}")]


class SettingsWith:
    """A setting whose value and origin hold the text."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def rows(self) -> list[SettingRow]:
        setting = all_settings()["model"]
        text = self._text
        row = SettingRow(
            setting=setting, written=text, origin=text, of_workspace=True, is_secret=False, holds="at once"
        )
        return [row]

    async def change(self, name: str, text: str | None, *, user: bool) -> str:
        return f"{name} {text} {user}"


def part(text: str) -> RequestPart:
    return RequestPart(zone="A", layer=text, source=text, tokens=3, role=Role.USER, contents=(Text(text),))


async def context_of(text: str) -> ContextView:
    return ContextView(report(text), (part(text),), {text: text}, (text,))


async def saved(_base: str, text: str) -> str:
    return text


def files_of(memory: Memory, text: str) -> Any:
    """A session whose files of memory hold the text."""
    memory.hot.remember(clear(f"zebra {text.encode('utf-8', 'replace').decode()}"), heading=None, conversation=None)
    session: Any = FakeSession(lambda _: ())
    session.memory = memory
    return session


async def figures_of(memory: Memory, text: str) -> StatisticsView:
    """Figures in which the text stands in every place."""
    spent = Spent(
        key=text,
        requests=1,
        prompt_tokens=1,
        completion_tokens=1,
        cached_tokens=1,
        money={text: 1.5},
        local=0,
        unpriced=0,
        title=text,
    )
    return StatisticsView(
        figures=memory.statistics(),
        series=(DaySeries(text, text, (text, text), (1.0, 2.5)),),
        savings=(Saving(text, 2, 1, text),),
        sizes=(DiskSize(text, 1, text),),
        spending=SpendingReport(
            today=spent, daily_tokens=0, daily_cost=0.0, days=(spent,), conversations=(spent,), purposes=(spent,)
        ),
    )


def replaced(profile: Profile, text: str) -> Profile:
    """The profile with the text in its spec."""
    return structs.replace(profile, spec=f"{profile.spec}{text}")


def policy_of(text: str) -> Policy:
    """A policy with rules of the text, and a decision about it."""
    policy = Policy(RuleSet([Rule(verdict, text or "x", text) for verdict in Verdict]))
    policy.note(action(text), Decision(Verdict.DENY, text), text)
    return policy


def servers_of(text: str) -> GivenServers:
    """A server in which the text stands in every place."""
    failed = status(
        text, ServerState.FAILED, summary=text, error=text, notice=text, log=text, protocol=text, tools=(text,)
    )
    return GivenServers([structs.replace(failed, offered=(tool(text, text),))], [text])


def archive_of(memory: Memory, text: str) -> Memory:
    """A memory with an archive of this label."""
    label = clear(text.encode("utf-8", "replace").decode().strip() or "x")
    memory.vault.archive_text(clear(f"zebra {label}"), label=label)
    return memory


SCREENS = {
    ImageFileScreen: lambda memory, text: ImageFileScreen(
        memory.workspace.root / text.replace("\0", "").replace("/", "")
    ),
    StatisticsScreen: lambda memory, text: StatisticsScreen(lambda: figures_of(memory, text)),
    ArchiveScreen: lambda memory, text: ArchiveScreen(archive_of(memory, text)),
    MemoryScreen: lambda memory, text: MemoryScreen(files_of(memory, text)),
    ModelsScreen: lambda memory, text: ModelsScreen(GivenModels((replaced(QWEN, text), replaced(CLAUDE, text)), text)),
    PermissionsScreen: lambda memory, text: PermissionsScreen(policy_of(text)),
    ServersScreen: lambda memory, text: ServersScreen(servers_of(text)),
    LineScreen: lambda memory, text: LineScreen(text, [text], str, text=text, example=text, scopes=[text]),
    EditScreen: lambda memory, text: EditScreen(text, text, saved),
    ContextScreen: lambda memory, text: ContextScreen(lambda: context_of(text), str),
    ChoicesScreen: lambda memory, text: ChoicesScreen(
        text, [ChoiceItem(text, text, text)], notes=[text], takes_text=True
    ),
    PermissionScreen: lambda memory, text: PermissionScreen(action(text), text, offers=[text]),
    GoOnScreen: lambda memory, text: GoOnScreen(text),
    ProposalScreen: lambda memory, text: ProposalScreen(text, [(text, text)]),
    SearchScreen: lambda memory, text: SearchScreen(memory, f"zebra {text}"),
    PassageScreen: lambda memory, text: PassageScreen(memory, row(text)),
    NoteScreen: lambda memory, text: NoteScreen(memory, row(text)),
    TextScreen: lambda memory, text: TextScreen(text, lambda: BlockText(text, "diff")),
    PictureScreen: lambda memory, text: PictureScreen(memory, (text,), "off"),
    TrustScreen: lambda memory, text: TrustScreen([text]),
    ChangesScreen: lambda memory, text: ChangesScreen([text]),
    LinkScreen: lambda memory, text: LinkScreen(text, text, text),
    QuestionScreen: lambda memory, text: QuestionScreen(PersonQuestion(text, (text, text))),
    ServerScreen: lambda memory, text: ServerScreen(text, [text], is_changed=False),
    PickerScreen: picker_of,
    DeleteScreen: lambda memory, text: DeleteScreen(text, [(text, text)]),
    PaletteScreen: lambda memory, text: PaletteScreen("Palette", palette_rows(text), "a note"),
    SettingsScreen: lambda memory, text: SettingsScreen(SettingsWith(text)),
}
IN_CHAT = {
    *("ChatScreen", "Prompt", "Suggestions", "StatusBar", "NewBelowHint", "Transcript", "QueryInput", "PlanPanel"),
    *("FocusBar", "FindBar", "ChatFind", "TitleLine", "ChatFoot", "SidePanel", "UnitTextArea", "TranscriptScreen"),
}
"""What stands on the chat's screen, all of it in `test_the_chat_shows_nothing_that_a_terminal_obeys`."""
WITHOUT_TEXT = {"BlockPicture": CONTROL_OF_PICTURES}


def classes() -> Iterator[type]:
    """Every class of tui that shows something: widgets, screens, pieces."""
    for found in pkgutil.walk_packages(tui.__path__, "tui."):
        module = importlib.import_module(found.name)
        for each in vars(module).values():
            ours = inspect.isclass(each) and each.__module__ == found.name
            if ours and (issubclass(each, Widget) or callable(getattr(each, "lines", None))):
                yield each


def test_every_class_that_shows_something_has_a_case() -> None:
    known = (
        {each.__name__ for each in (*PIECES, *SCREENS)}
        | IN_CHAT
        | WITHOUT_TEXT.keys()
        | {
            "TranscriptItem",
            "QuestionDialog",
            "SheetDialog",
            "AnswersDialog",
            "LinesView",
            "ListScreen",
            "PickerBrowser",
            "RowList",
        }
    )
    assert {each.__name__ for each in classes()} - known == set()


@pytest.fixture
def memory(workspace: Workspace) -> Iterator[Memory]:
    opened = Memory.open(workspace, SystemClock())
    remembered(opened, sample(FEW))
    yield opened
    opened.close()


def on_screen(chat: Any) -> str:
    """All that the screen holds, toasts and scrolled-away lines of its widgets included."""
    strips = chat.app.screen._compositor.render_strips(Size(chat.app.size.width, chat.app.size.height))
    return "\n".join(shown(list(strip)) for strip in strips)


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=[pytest.mark.soak, pytest.mark.timeout(600)])])
@pytest.mark.parametrize("screen", SCREENS, ids=lambda kind: kind.__name__)
async def test_no_screen_shows_what_a_terminal_obeys(
    open_chat: Open,  # noqa: F811
    memory: Memory,
    screen: Any,
    count: int,
) -> None:
    session = FakeSession(lambda text: answer(text))
    session.memory = memory
    async with open_chat(session=session, size=(120, 40)) as chat:
        for text in sample(count, seed=4):
            chat.app.push_screen(SCREENS[screen](memory, text))
            await chat.until(lambda: isinstance(chat.app.screen, screen))
            for _ in range(5):
                await chat.pilot.pause(0.02)
                assert breaks_out(on_screen(chat)) == [], text
            if screen is SearchScreen:
                await chat.press("ctrl+s", "down", "down")
                assert breaks_out(on_screen(chat)) == [], text
            chat.app.pop_screen()
            await chat.pilot.pause()


async def toasted(chat: Any, text: str) -> None:
    """A toast of the text, on a screen that has toasts."""
    chat.app.push_screen(PermissionScreen(action("x"), "y"))
    await chat.until(lambda: isinstance(chat.app.screen, PermissionScreen))
    chat.app.notify(text, title=text, markup=True)
    await chat.until(lambda: chat.app.screen.query(Toast))
    await chat.pilot.pause(0.1)


async def test_no_toast_shows_what_a_terminal_obeys(open_chat: Open) -> None:  # noqa: F811
    texts = sample(5, seed=7)
    async with open_chat(size=(100, 40), notifications=True) as chat:
        for text in texts:
            await toasted(chat, f"zebra [red]{text}")
            assert breaks_out(on_screen(chat)) == [], text
            assert "zebra [red]" in on_screen(chat)
            chat.app.pop_screen()
            chat.app.clear_notifications()


async def test_the_chat_shows_nothing_that_a_terminal_obeys(open_chat: Open, tmp_path: Path) -> None:  # noqa: F811
    async with open_chat(size=(100, 30), session=FakeSession(lambda text: answer(f"I say {text} &#x202E; x"))) as chat:
        for text in sample(FEW, seed=5):
            chat.screen.status.update_info(model=text, doing=text, working=text, hint="")
            chat.screen.query_one(TitleLine).show(text)
            chat.screen.prompt.set_text(text)
            chat.screen.prompt.insert_text(text)
            chat.screen.query_one(Suggestions).offer([Suggestion(text, text, text, text)])
            chat.screen.query_one(PlanPanel).show(Checklist((PlanStep(text, StepState.DOING),)))
            chat.screen.transcript.add(*answered(text), MutedLine(text), UserItem(text, note=text))
            await chat.pilot.pause(0.02)
            assert breaks_out(on_screen(chat)) == [], text
            chat.screen.query_one(Suggestions).offer(())
            field = QueryInput(text)
            await chat.screen.mount(field)
            assert breaks_out(field.value + on_screen(chat)) == [], text
            await field.remove()
            panel = SidePanel(lambda _: None, lambda: None)
            await chat.screen.mount(panel)
            panel.show_rows((PanelRow(text, text), PanelRow(text, text, cut="start"), PanelRow(text, wraps=True)))
            await chat.pilot.pause(0.02)
            assert breaks_out(on_screen(chat)) == [], text
            await panel.remove()
        assert breaks_out(chat.text) == []


@pytest.mark.parametrize(
    ("module", "shows"),
    [
        ("tui.widgets.prompt.suggestions", "offer"),
        ("tui.widgets.transcript.wrap", "pieces"),
        ("tui.app", "notify"),
        ("agent.services.permission_question", "screen"),
    ],
)
async def test_the_walk_sees_one_that_is_switched_off(
    open_chat: Open,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    shows: str,
) -> None:
    monkeypatch.setattr(f"{module}.visible", lambda text: text)
    text = "a\x9b2J\u202ez"
    async with open_chat(size=(100, 30), notifications=True) as chat:
        match shows:
            case "offer":
                chat.screen.query_one(Suggestions).offer([Suggestion(text, text, text, text)])
            case "pieces":
                chat.screen.transcript.add(UserItem("x", note=text))
            case "notify":
                await toasted(chat, text)
            case _:
                chat.app.push_screen(PermissionScreen(action(text), text))
        await chat.until(lambda: breaks_out(on_screen(chat)) != [], within=5)
