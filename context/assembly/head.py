"""Zone A: the head of every request of an epoch, fixed when the epoch begins."""

from collections.abc import Sequence

from msgspec import Struct

from context.assembly.budget import Budget
from context.assembly.tokens import CountedHead, CountedMessage, Layer, MessageCounter, MessagePiece, fit_lines
from context.epoch import EpochBasis, EpochState, HeadPiece
from context.layers.project import memory_section, skills_text
from context.layers.system import static_text
from context.report import DroppedSource
from context.sources.changes import note_digests, skill_digests
from context.sources.project import InstructionText, UnusedInstructions
from context.sources.sent_text import sent_text
from context.sources.skills import Skill
from context.sources.system_yaml import SystemFile
from foundation.privacy import TextSource, clear
from memory.hot import Note
from models.fence import SAMPLE_NONCE
from models.messages import Role, Text

_MEMORY_SHARE = 0.4  # of the project's room, reserved for MEMORY.md before AGENTS.md and SOUL.md
_SHARE_FULL = "its layer's share is full"
_MAX_INSTRUCTIONS = 8_000  # tokens of the project's instructions
_INSTRUCTIONS_SHARE = 1 / 8  # of the window, where that is less


class HeadSources(Struct, frozen=True):
    """Sources of a head, as last read."""

    system: SystemFile
    agents: str = ""
    soul: str = ""
    skills: tuple[Skill, ...] = ()
    memory: str = ""
    notes: tuple[Note, ...] = ()
    digests: dict[str, str] = {}  # of the files whose edits end the epoch
    lists_skills: bool = True
    project: tuple[InstructionText, ...] = ()  # the nearest to the user's folder last
    unused: tuple[UnusedInstructions, ...] = ()


def new_epoch_state(
    sources: HeadSources,
    basis: EpochBasis,
    budget: Budget,
    counting: MessageCounter,
    *,
    tools: int,
    number: int,
    reason: str,
    nonce: str,
) -> EpochState:
    """Begins an epoch. `tools` is the token count of the tools' definitions, which belong to the system layer."""
    pool = max(0, budget.shares[Layer.SYSTEM] + budget.shares[Layer.PROJECT] - tools)
    documents = _documents(sources)
    project_tokens = sum(counting.text(text) for _, text, _ in documents) + counting.text(sources.memory)
    instructions = [(file.path, clear(sent_text(file.text), TextSource.OTHER)) for file in sources.project]
    most = min(_MAX_INSTRUCTIONS, int(budget.window * _INSTRUCTIONS_SHARE))
    project_tokens += min(most, sum(counting.text(text) for _, text in instructions))
    system_room = max(budget.shares[Layer.SYSTEM] - tools, pool - project_tokens, pool // 8)
    fitter = _HeadFitter(counting)
    fitter.add(Layer.SYSTEM, "system.yaml", static_text(sources.system), "", system_room)
    room = max(0, pool - fitter.used)
    memory_floor = min(counting.text(sources.memory), int(room * _MEMORY_SHARE)) if sources.memory.strip() else 0
    for name, text, injected in documents:
        fitter.add(Layer.PROJECT, name, text, injected, max(0, pool - fitter.used - memory_floor))
    _add_instructions(fitter, instructions, min(most, pool - fitter.used - memory_floor))
    fitter.dropped += [(Layer.PROJECT.value, DroppedSource(each.path, 0, f"it {each.why}")) for each in sources.unused]
    in_head = _add_memory(fitter, sources, max(0, pool - fitter.used))
    return EpochState(
        number=number,
        reason=reason,
        model=basis.model,
        window=basis.window,
        tools=basis.tools,
        nonce=nonce,
        pieces=tuple(fitter.pieces),
        dropped=tuple(fitter.dropped),
        files=basis.files,
        notes=note_digests(sources.notes),
        skills=skill_digests(sources.skills),
        in_head=in_head,
        summary=basis.summary,
        reading=basis.reading,
    )


def counted_head(state: EpochState, counting: MessageCounter) -> CountedHead:
    """Zone A of the epoch's requests.

    Chat templates put the tools after the system message or into it. So the system message has only what changes
    seldom, and a change in the opening leaves the tools unchanged for a server's cache.
    """
    messages: list[CountedMessage] = []
    for role, opens in ((Role.SYSTEM, False), (Role.USER, True)):
        pieces = tuple(
            MessagePiece(Layer(p.layer), p.source, Text(p.text, p.injected, state.nonce if p.injected else ""))
            for p in state.pieces
            if p.opens is opens
        )
        if pieces:
            messages.append(counting.counted_message(role, pieces))
    return CountedHead(tuple(messages))


class _HeadFitter:
    """Collects the head's pieces, each truncated to its share."""

    def __init__(self, counting: MessageCounter) -> None:
        self.counting = counting
        self.pieces: list[HeadPiece] = []
        self.dropped: list[tuple[str, DroppedSource]] = []
        self.used = 0

    def add(self, layer: Layer, source: str, text: str, injected: str, room: int, *, opens: bool = False) -> None:
        if not text.strip():
            return
        frame = self.counting.part(Text("", injected, SAMPLE_NONCE)) + 2 if injected else 2
        fitting, dropped_tokens = fit_lines(text, room - frame, self.counting, f"… (the rest of {source} did not fit)")
        if dropped_tokens:
            self.dropped.append((layer.value, DroppedSource(source, dropped_tokens, _SHARE_FULL)))
        if fitting:
            self.append(layer, source, fitting, injected, opens=opens)

    def append(self, layer: Layer, source: str, text: str, injected: str, *, opens: bool = False) -> None:
        piece = HeadPiece(layer.value, source, text, injected, opens)
        self.pieces.append(piece)
        self.used += self.counting.part(Text(text, injected, SAMPLE_NONCE)) + 2


def _documents(sources: HeadSources) -> Sequence[tuple[str, str, str]]:
    return (
        ("AGENTS.md", clear(sent_text(sources.agents), TextSource.OTHER), "agents"),
        ("SOUL.md", clear(sent_text(sources.soul), TextSource.OTHER), "soul"),
        ("skills", skills_text(sources.skills) if sources.lists_skills else "", "skills"),
    )


def _add_instructions(fitter: _HeadFitter, files: Sequence[tuple[str, str]], room: int) -> None:
    """Adds the project's instructions (path, text): what does not fit is missing from the files far from the user's
    folder, and named."""
    start, end = len(fitter.pieces), fitter.used + room
    for path, text in reversed(files):
        shown = f"Instructions of this project, from {path}:\n\n{text}" if text else ""
        fitter.add(Layer.PROJECT, path, shown, "project", end - fitter.used, opens=True)
    fitter.pieces[start:] = reversed(fitter.pieces[start:])
    missing = {path for path, text in files if text} - {piece.source for piece in fitter.pieces[start:]}
    if names := ", ".join(path for path, _ in files if path in missing):
        fitter.add(Layer.PROJECT, "left out", f"No room for {names}.", "project", 200, opens=True)


def _add_memory(fitter: _HeadFitter, sources: HeadSources, room: int) -> tuple[str, ...]:
    if not sources.memory.strip():
        return ()
    frame = fitter.counting.part(Text("", "memory", SAMPLE_NONCE)) + 2
    section = memory_section(sources.memory, sources.notes, room - frame, fitter.counting)
    if section.dropped:
        fitter.dropped.append((Layer.PROJECT.value, section.dropped))
    if section.text:
        fitter.append(Layer.PROJECT, "MEMORY.md", section.text, "memory", opens=True)
    return section.in_head
