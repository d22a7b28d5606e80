"""Screens in which a text stands in every place: its rows, titles, values and errors."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from msgspec import structs

from agent.checkpoints.change import ChangedFile, CheckpointKind, CheckpointRecord
from agent.checkpoints.journal import Begun, Ended, JournalContent
from agent.config.settings import all_settings
from agent.mcp.server_state import ServerState
from agent.permissions.action import Access, Action, PersonQuestion
from agent.permissions.policy import Decision, Policy
from agent.permissions.rules import Rule, RuleSet, Verdict
from agent.services.browse import BrowseRow
from agent.services.context_view import ContextView
from agent.services.conversation_tree import set_turn_label
from agent.services.memory_files import SavedNotes
from agent.services.settings import SettingRow
from agent.services.statistics_view import DaySeries, StatisticsView
from agent.spending.report import SpendingReport, Spent
from context.assembly.parts import RequestPart
from context.report import ContextReport, DroppedSource, LayerReport, SourceReport
from foundation.privacy import clear
from foundation.terminal_text import visible_line
from foundation.trust import Trust
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.settings import RetentionSettings
from memory.upkeep.disk import DiskPart, DiskUse
from models.chat.port import Profile
from models.messages import Role, Text
from tests.tui.conftest import Open, open_chat  # noqa: F401 - a fixture
from tests.tui.fakes import NOW, REPORT, FakeSession
from tests.tui.overview.ports import CLAUDE, QWEN, GivenModels, GivenServers, status, tool
from tui.dialogs.choices import ChoiceItem, ChoicesScreen
from tui.dialogs.confirm import GoOnScreen, ProposalScreen, YesScreen
from tui.dialogs.line import LineScreen
from tui.dialogs.permission import PermissionScreen
from tui.dialogs.question import QuestionScreen
from tui.dialogs.trust import ChangesScreen, InstructionsScreen, LinkScreen, ServerScreen, TrustScreen
from tui.overview.archive_screen import ArchiveScreen
from tui.overview.changes_screen import ChangedFilesScreen
from tui.overview.clean_screen import CleanScreen
from tui.overview.context_screen import ContextScreen
from tui.overview.edit_screen import EditScreen
from tui.overview.memory_screen import MemoryScreen
from tui.overview.models_screen import ModelsScreen
from tui.overview.permissions_screen import PermissionsScreen
from tui.overview.restore_dialog import RestoreScreen
from tui.overview.servers_screen import ServersScreen
from tui.overview.statistics_screen import StatisticsScreen
from tui.overview.versions_screen import VersionsScreen
from tui.palette.rows import PaletteRow
from tui.palette.screen import PaletteScreen
from tui.passages.image_screen import ImageFileScreen
from tui.passages.page_screen import PictureScreen
from tui.passages.screen import NoteScreen, PassageScreen
from tui.passages.text_screen import TextScreen
from tui.picker.browser import PickerSource
from tui.picker.screen import PickerScreen
from tui.picker.turns import TurnLevel
from tui.search.screen import SearchScreen
from tui.settings.screen import SettingsScreen
from tui.widgets.transcript.block import BlockText


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
            title="", setting=setting, written=text, origin=text, of_workspace=True, is_secret=False, holds="at once"
        )
        return [row]

    async def change(self, name: str, text: str | None, *, user: bool) -> str:
        return f"{name} {text} {user}"


def part(text: str) -> RequestPart:
    return RequestPart(zone="A", layer=text, source=text, tokens=3, role=Role.USER, contents=(Text(text),))


async def context_of(text: str) -> ContextView:
    return ContextView(report(text), (part(text),), {text: text}, (text,))


async def saved(_base: str, text: str) -> SavedNotes:
    return SavedNotes(text)


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
        disk=DiskUse(parts=(DiskPart(text, 1, text),), free=None),
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


def changes_of(*names: str) -> Any:
    """A session in whose conversation a tool changed files of these names."""
    files = tuple(ChangedFile(folder="/code", path=name, before="a", after="b") for name in names)
    record = CheckpointRecord(
        id="cp_1", time=0, kind=CheckpointKind.TOOL, conversation="c_1", message="e_1", entry="e_2", files=files
    )
    content = JournalContent(((1, Begun(record)), (2, Ended("cp_1"))))
    checkpoints = SimpleNamespace(
        journal=SimpleNamespace(content=lambda: content), blobs=SimpleNamespace(get=lambda name: f"{name}\n".encode())
    )
    return SimpleNamespace(conversation=SimpleNamespace(id="c_1"), checkpoints=checkpoints)


def untouched(memory: Memory, text: str) -> Any:
    """A session in which conversations of this title are proposed for cleaning, and one stays."""
    for label in ("keep", ""):
        title = clear(text.encode("utf-8", "replace").decode())
        conversation = memory.conversations.new(title, labels=[clear(label)] if label else [])
        memory.conversations.append(
            EntryDraft(
                conversation=conversation.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=clear("zebra")
            )
        )
    clock = SimpleNamespace(now=lambda: datetime.now(UTC) + timedelta(days=40))
    return SimpleNamespace(memory=memory, clock=clock, config=SimpleNamespace(retention=RetentionSettings()))


SCREENS = {
    ChangedFilesScreen: lambda memory, text: ChangedFilesScreen(changes_of(text)),
    InstructionsScreen: lambda memory, text: InstructionsScreen([text], is_changed=True),
    CleanScreen: lambda memory, text: CleanScreen(untouched(memory, text)),
    ImageFileScreen: lambda memory, text: ImageFileScreen(
        memory.workspace.root / text.replace("\0", "").replace("/", "")
    ),
    StatisticsScreen: lambda memory, text: StatisticsScreen(lambda: figures_of(memory, text)),
    ArchiveScreen: lambda memory, text: ArchiveScreen(archive_of(memory, text)),
    MemoryScreen: lambda memory, text: MemoryScreen(files_of(memory, text)),
    VersionsScreen: lambda memory, text: VersionsScreen(files_of(memory, text).memory),
    RestoreScreen: lambda memory, text: RestoreScreen(text, f"---\n+++\n@@ @@\n-{text}\n+{text}"),
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
    YesScreen: lambda memory, text: YesScreen(text, [(text, text)], text),
    PaletteScreen: lambda memory, text: PaletteScreen("Palette", palette_rows(text), "a note"),
    SettingsScreen: lambda memory, text: SettingsScreen(SettingsWith(text)),
}
