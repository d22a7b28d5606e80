"""Zone A: the head of every request of an epoch, fixed when the epoch begins."""

from collections.abc import Sequence

from msgspec import Struct

from context.assembly.budget import Budget
from context.assembly.tokens import CountedMessage, Layer, MessageCounter, MessagePiece, fit_lines
from context.epoch import EpochBasis, EpochState, HeadPiece
from context.layers.project import memory_section, skills_text
from context.layers.system import static_text
from context.report import DroppedSource
from context.sources.changes import note_digests, skill_digests
from context.sources.skills import Skill
from context.sources.system_yaml import SystemFile
from foundation.privacy import TextSource, clear
from memory.hot import Note
from models.fence import SAMPLE_NONCE, new_nonce
from models.messages import Role, Text

_MEMORY_PART = 0.4  # of the project's room, that AGENTS.md and SOUL.md cannot take from MEMORY.md
_WHY = "its layer's share is full"


class HeadSources(Struct, frozen=True):
    """Everything that a head is made of, as last read."""

    system: SystemFile
    agents: str = ""
    soul: str = ""
    skills: tuple[Skill, ...] = ()
    memory: str = ""
    notes: tuple[Note, ...] = ()
    digests: dict[str, str] = {}  # of what moves the head when it is edited


def new_epoch_state(
    shelf: HeadSources,
    ground: EpochBasis,
    budget: Budget,
    counting: MessageCounter,
    *,
    tools: int,
    number: int,
    reason: str,
) -> EpochState:
    """Begins an epoch. `tools` is the tokens of the tools' definitions, which count to the system layer."""
    pool = max(0, budget.shares[Layer.SYSTEM] + budget.shares[Layer.PROJECT] - tools)
    documents = _documents(shelf)
    wanted = sum(counting.text(text) for _, text, _ in documents) + counting.text(shelf.memory)
    system_room = max(budget.shares[Layer.SYSTEM] - tools, pool - wanted, pool // 8)
    fit = _HeadFitter(counting)
    fit.add(Layer.SYSTEM, "system.yaml", static_text(shelf.system), "", system_room)
    room = max(0, pool - fit.used)
    memory_floor = min(counting.text(shelf.memory), int(room * _MEMORY_PART)) if shelf.memory.strip() else 0
    for name, text, injected in documents:
        fit.add(Layer.PROJECT, name, text, injected, max(0, pool - fit.used - memory_floor))
    in_head = _add_memory(fit, shelf, max(0, pool - fit.used))
    return EpochState(
        number=number,
        reason=reason,
        model=ground.model,
        window=ground.window,
        tools=ground.tools,
        nonce=new_nonce(),
        pieces=tuple(fit.pieces),
        dropped=tuple(fit.dropped),
        files=ground.files,
        notes=note_digests(shelf.notes),
        skills=skill_digests(shelf.skills),
        in_head=in_head,
        summary=ground.summary,
    )


def head_message(state: EpochState, counting: MessageCounter) -> CountedMessage | None:
    """Zone A's message; None where the head is empty."""
    if not state.pieces:
        return None
    pieces = tuple(
        MessagePiece(Layer(p.layer), p.source, Text(p.text, p.injected, state.nonce if p.injected else ""))
        for p in state.pieces
    )
    return counting.weighed(Role.SYSTEM, pieces)


class _HeadFitter:
    """Collects pieces, each cut to its share."""

    def __init__(self, counting: MessageCounter) -> None:
        self.counting = counting
        self.pieces: list[HeadPiece] = []
        self.dropped: list[tuple[str, DroppedSource]] = []
        self.used = 0

    def add(self, layer: Layer, source: str, text: str, injected: str, room: int) -> None:
        if not text.strip():
            return
        frame = self.counting.part(Text("", injected, SAMPLE_NONCE)) + 2 if injected else 2
        kept, left = fit_lines(text, room - frame, self.counting, f"… (the rest of {source} did not fit)")
        if left:
            self.dropped.append((layer.value, DroppedSource(source, left, _WHY)))
        if kept:
            self.put(layer, source, kept, injected)

    def put(self, layer: Layer, source: str, text: str, injected: str) -> None:
        piece = HeadPiece(layer.value, source, text, injected)
        self.pieces.append(piece)
        self.used += self.counting.part(Text(text, injected, SAMPLE_NONCE)) + 2


def _documents(shelf: HeadSources) -> Sequence[tuple[str, str, str]]:
    return (
        ("AGENTS.md", clear(shelf.agents.strip(), TextSource.OTHER), "agents"),
        ("SOUL.md", clear(shelf.soul.strip(), TextSource.OTHER), "soul"),
        ("skills", skills_text(shelf.skills), "skills"),
    )


def _add_memory(fit: _HeadFitter, shelf: HeadSources, room: int) -> tuple[str, ...]:
    if not shelf.memory.strip():
        return ()
    frame = fit.counting.part(Text("", "memory", SAMPLE_NONCE)) + 2
    section = memory_section(shelf.memory, shelf.notes, room - frame, fit.counting)
    if section.dropped:
        fit.dropped.append((Layer.PROJECT.value, section.dropped))
    if section.text:
        fit.put(Layer.PROJECT, "MEMORY.md", section.text, "memory")
    return section.in_head
