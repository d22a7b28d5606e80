"""Every widget, screen and piece of the chat shows foreign text through the sanitiser; a new one needs a case here."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets._toast import Toast

import tui
from agent.permissions.action import Access, Action
from agent.services.browse import BrowseRow
from context.report import ContextReport, DroppedSource, LayerReport, SourceReport
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from foundation.trust import Trust
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.hostile.payloads import FORBIDDEN, escapes, sample
from tests.tui.conftest import Open, open_chat  # noqa: F401 - a fixture
from tests.tui.fakes import NOW, REPORT, FakeSession, answer
from tui.dialogs.choices import ChoiceItem, ChoicesScreen
from tui.dialogs.confirm import GoOnScreen, ProposalScreen
from tui.dialogs.permission import PermissionScreen
from tui.dialogs.trust import ChangesScreen, LinkScreen, ServerScreen, TrustScreen
from tui.images.attached import AttachmentPreview
from tui.images.protocol import GraphicsProtocol
from tui.passages.page_screen import PictureScreen
from tui.passages.screen import NoteScreen, PassageScreen
from tui.recall.screen import RecallScreen
from tui.search.screen import SearchScreen
from tui.widgets.prompt.suggestions import Suggestion, Suggestions
from tui.widgets.query_input import QueryInput
from tui.widgets.transcript.context_panel import ContextPanel
from tui.widgets.transcript.items import AnswerBlock, ErrorItem, MutedLine, UserItem, Welcome
from tui.widgets.transcript.line_numbers import numbered_items
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


PIECES = {
    UserItem: lambda text: [UserItem(text, note=text)],
    AnswerBlock: answered,
    MutedLine: lambda text: [MutedLine(text)],
    ErrorItem: lambda text: [ErrorItem(text, text, text)],
    Welcome: lambda text: [Welcome(text, text, first=True)],
    ContextPanel: lambda text: [ContextPanel(report(text), {text: text})],
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


SCREENS = {
    ChoicesScreen: lambda memory, text: ChoicesScreen(
        text, [ChoiceItem(text, text, text)], notes=[text], takes_text=True
    ),
    PermissionScreen: lambda memory, text: PermissionScreen(action(text), text, offers=[text]),
    GoOnScreen: lambda memory, text: GoOnScreen(text),
    ProposalScreen: lambda memory, text: ProposalScreen(text, [(text, text)]),
    RecallScreen: lambda memory, text: RecallScreen(memory, "zebra"),
    SearchScreen: lambda memory, text: SearchScreen(memory, f"zebra {text}"),
    PassageScreen: lambda memory, text: PassageScreen(memory, row(text)),
    NoteScreen: lambda memory, text: NoteScreen(memory, row(text)),
    PictureScreen: lambda memory, text: PictureScreen(memory, (text,), "off"),
    TrustScreen: lambda memory, text: TrustScreen([text]),
    ChangesScreen: lambda memory, text: ChangesScreen([text]),
    LinkScreen: lambda memory, text: LinkScreen(text, text, text),
    ServerScreen: lambda memory, text: ServerScreen(text, [text], is_changed=False),
}
IN_CHAT = {"ChatScreen", "Prompt", "Suggestions", "StatusBar", "NewBelowHint", "Transcript", "QueryInput"}
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
        | {"TranscriptItem", "QuestionDialog", "SheetDialog"}
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
            chat.screen.prompt.set_text(text)
            chat.screen.prompt.insert_text(text)
            chat.screen.query_one(Suggestions).offer([Suggestion(text, text, text, text)])
            chat.screen.transcript.add(*answered(text), MutedLine(text), UserItem(text, note=text))
            await chat.pilot.pause(0.02)
            assert breaks_out(on_screen(chat)) == [], text
            chat.screen.query_one(Suggestions).offer(())
            field = QueryInput(text)
            await chat.screen.mount(field)
            assert breaks_out(field.value + on_screen(chat)) == [], text
            await field.remove()
        assert breaks_out(chat.text) == []


@pytest.mark.parametrize(
    ("module", "shows"),
    [
        ("tui.widgets.prompt.suggestions", "offer"),
        ("tui.widgets.transcript.wrap", "pieces"),
        ("tui.app", "notify"),
        ("tui.dialogs.permission", "screen"),
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


# ── by reading: whatever is built of text comes through the sanitiser, or says here why not ──

SINKS = frozenset({"Static", "Label", "Option", "Text", "Segment", "Content"})
SANCTIONED = frozenset(
    {
        "visible",
        "visible_line",
        "_one_line",
        "clipped",
        "escape_name",
        "ink",
        "iso",
        "len",
        "minute",
        "day",
        "likelihood",
        "_row_text",
        "preview",
        "_preview_text",
        "row_text",
        "bar",
    }
)
"""Functions whose result holds nothing that a terminal obeys."""
REASONS = {
    "tui/images/half_blocks.py picture_lines": "shades of a picture's pixels",
    "tui/dialogs/choices.py compose": "_heading is made visible when the screen is made",
    "tui/dialogs/choices.py _show": "_option_text makes label and detail visible",
    "tui/chat/view.py show_waiting": "lines that clip makes of visible text, and a number",
    "tui/dialogs/confirm.py compose": "names, summaries, headings and rows are made visible when the screens are made",
    "tui/dialogs/permission.py compose": "all texts are made visible when the screen is made",
    "tui/dialogs/permission.py _detail_text": "_detail is made visible when the screen is made",
    "tui/dialogs/permission.py _show_answers": "our own answers, and visible_line of what was typed",
    "tui/passages/screen.py _description": "the trust, of our own words",
    "tui/recall/screen.py _row_text": "_from_match cuts a line that visible_line made",
    "tui/search/preview.py _duplicates": "lines of visible_line",
    "tui/search/preview.py _score_parts": "names made visible, and figures",
    "tui/dialogs/trust.py compose": "facts, names and targets are made visible when the screens are made",
    "tui/widgets/prompt/suggestions.py render": "_one_line makes names and details visible",
    "tui/widgets/status.py render": "the hint is a constant; fit_line makes the status visible",
    "tui/widgets/status.py clip": "cuts what its callers made visible",
    "tui/widgets/transcript/context_panel.py _layer": "bars and figures; the layer's name is of the program",
    "tui/widgets/transcript/wrap.py wrap_runs": "_paragraphs makes every run visible",
    "tui/widgets/transcript/wrap.py _slice": "a piece of a run that _paragraphs made visible",
    "tui/widgets/transcript/line_numbers.py lines": "a line's number",
    "tui/widgets/transcript/markdown.py _list": "a list's number or dot",
    "tui/widgets/transcript/items.py _labelled": "our own names of rows",
}


def unsanitised() -> set[str]:
    """`file function` of every construction of shown text whose words do not come through the sanitiser."""
    found: set[str] = set()
    base = Path(tui.__file__).parent.parent
    for path in sorted(Path(tui.__file__).parent.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                known = _clean_names(function)
                calls = [each for each in ast.walk(function) if isinstance(each, ast.Call) and each.args]
                if any(_name(call) in SINKS and not _clean(call.args[0], known) for call in calls):
                    found.add(f"{path.relative_to(base).as_posix()} {function.name}")
    return found


def _clean_names(function: ast.AST) -> set[str]:
    known: set[str] = set()
    for _ in range(3):
        for each in ast.walk(function):
            if isinstance(each, ast.Assign) and _clean(each.value, known):
                known |= {target.id for target in each.targets if isinstance(target, ast.Name)}
    return known


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _clean(node: ast.AST, known: set[str]) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
            return all(_clean(part, known) for part in parts)
        case ast.FormattedValue(value=value, format_spec=spec):
            return spec is not None or _clean(value, known)  # with a format it is a figure
        case ast.Name(id=name):
            return name.isupper() or name in known
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other, op=ast.Add()):
            return _clean(one, known) and _clean(other, known)
        case ast.BinOp(left=one, op=ast.Mult()) | ast.Starred(value=one) | ast.GeneratorExp(elt=one):
            return _clean(one, known)
        case ast.Attribute(attr="value"):
            return True  # of an enum of ours
        case ast.Call(
            func=ast.Attribute(value=value, attr="join" | "replace" | "expandtabs" | "ljust" | "split"), args=args
        ):
            return _clean(value, known) and all(_clean(each, known) for each in args)
        case ast.Call(args=args):
            return _name(node) in SANCTIONED or (
                _name(node) == "Text" and all(_clean(each, known) for each in args[:1])
            )
        case _:
            return False


def test_all_text_that_is_built_comes_through_the_sanitiser_or_says_why_not() -> None:
    assert unsanitised() == set(REASONS)


def test_no_widget_reads_markup_in_what_it_shows() -> None:
    found: list[str] = []
    for path in Path(tui.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and _name(call) in {"Static", "Label", "OptionList"}:
                off = any(each.arg == "markup" and ast.unparse(each.value) == "False" for each in call.keywords)
                if not off and not isinstance(call.func, ast.Attribute):
                    found.append(f"{path.name}:{call.lineno}")
    assert [place for place in found if place] == []


def test_the_reading_sees_raw_text() -> None:
    tree = ast.parse(
        "def shown(row):\n    title = row.title\n    return Static(f'{title} of {row.count:,}', markup=False)"
    )
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    assert not _clean(calls[0].args[0], _clean_names(tree))
    assert _clean(ast.parse("Text(visible(f'{title}'))", mode="eval").body, set())
