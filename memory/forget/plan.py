"""The plan of a forgetting: what would go, for a person to see, and the job that does it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

import apsw
from msgspec import Struct
from msgspec.structs import replace

from foundation.clock import to_ms
from foundation.errors import Misuse
from foundation.figures import counted
from foundation.files import is_file, read_bytes, status
from foundation.paths import LINKABLE_FILES, draft_name
from foundation.terminal_text import visible_line
from memory.cold.encoding import to_bytes
from memory.cold.recalled_results import both_forms
from memory.cold.sql import batches, fetch, marks
from memory.forget.belongings import MOST_PIECES, entries_of, kept_lines_of, short_pieces, text_of
from memory.forget.choice import Chosen, NamedLine
from memory.forget.copies import find_copies
from memory.forget.lineage import beside_of, derived_of
from memory.forget.named_files import NamedFile, files_losing_names
from memory.forget.pieces import cases, encodings, images_in, is_mark, pieces_of
from memory.forget.said_elsewhere import Pieces, give_up_short, give_up_what_stays, roles_of_sources, texts_of_person
from memory.forget.scan import own_files
from memory.forget.work import ForgetWork, line_hash
from memory.forgotten.fingerprints import SHORTEST, Fingerprints
from memory.forgotten.journal import ForgetJob, NoteLine
from memory.hot.parse import lines_of
from memory.memory import Memory
from memory.records import Entry, EntryKind, new_id
from models.messages import Role

MOST_SHOWN: Final = 200
MOST_DRAFTS: Final = 20  # of one conversation (agent.services.drafts)
_LINE: Final = 100  # characters of a first line
_LAST: Final = 1 << 62  # after every seq
_SHORTEST_TITLE: Final = 8


class PlannedEntry(Struct, frozen=True, kw_only=True):
    """An entry that goes, or that changes because it was derived of one or repeats it."""

    id: str
    conversation: str
    time: datetime
    by: str
    line: str
    kind: str
    why: str


class NamedConversation(Struct, frozen=True, kw_only=True):
    """A conversation that goes as a whole, or that says the same and stays."""

    id: str
    title: str
    kind: str
    entries: int


class ForgetPlan(Struct, frozen=True, kw_only=True):
    """What would go. `entries` and `derived` are the first ones; `entry_count` and `derived_count` say how many."""

    title: str
    job: ForgetJob
    entries: tuple[PlannedEntry, ...] = ()
    entry_count: int = 0
    derived: tuple[PlannedEntry, ...] = ()
    derived_count: int = 0
    conversations: tuple[NamedConversation, ...] = ()
    lines: tuple[NamedLine, ...] = ()
    pages: int = 0
    names: int = 0  # titles, labels and tags
    also_said: tuple[str, ...] = ()  # ids of entries that stay and say the same in parts
    also_in: tuple[NamedConversation, ...] = ()  # where these are
    renamed: tuple[tuple[str, str], ...] = ()  # notes whose names hold the words, and their new names
    kept: tuple[str, ...] = ()  # the person's own files that hold the words, and stay
    past: int = 0  # lines of a file that is gone, which its versions hold
    copies: tuple[str, ...] = ()  # where nothing else holds them: kinds of copies that do
    same_id: tuple[NamedConversation, ...] = ()  # that stay: the phrase is their id
    file_name: str = ""  # what was named, where it is read as the name of a file
    unnamed: tuple[NamedFile, ...] = ()  # files whose names lose words, while their texts stay
    unread: tuple[str, ...] = ()  # sentences about notes that could not be read, and so stay

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it is here."""
        return not (
            self.entry_count
            or self.derived_count
            or self.conversations
            or self.lines
            or self.names
            or self.renamed
            or self.past
            or self.copies
        )


NO_PLAN: Final = ForgetPlan(title="", job=ForgetJob(id="", begun_ms=0))


def plan_forgetting(memory: Memory, chosen: Chosen, now: datetime) -> ForgetPlan:
    """Looks at everything once. Changes nothing. Blocks. Raises Misuse for words that stand in every workspace."""
    secret = memory.cold.secret
    entries, conversations = list(chosen.entries), list(chosen.conversations)
    words = Fingerprints.of(encodings(cases(chosen.words)), secret)
    short, unsearched = short_pieces(memory, chosen)
    pieces = Pieces(_pieces(memory, chosen), short, secret)
    own = memory.cold.read(_own_words)
    if words.holds(own):
        raise Misuse(
            "Too general",
            f"{chosen.title} is part of Palimpsest's own files, so it cannot be deleted everywhere.",
            "Give more of the text, or an id.",
        )
    pieces.give_up(pieces.prints.found(own))
    also = give_up_what_stays(memory, pieces, words, entries, conversations)
    said_by_person = give_up_short(pieces, texts_of_person(memory, {*chosen.lines}))
    job = ForgetJob(
        id=new_id("f"),
        begun_ms=to_ms(now),
        entries=tuple(entries),
        conversations=tuple(conversations),
        refs=tuple(_refs(memory, entries, conversations)),
        lines=tuple(
            NoteLine(line_hash(secret, line.file), line_hash(secret, line.text))
            for line in (*chosen.lines, *chosen.past)
        )
        + tuple(kept_lines_of(memory, conversations)),
        titled=tuple(_titled(memory, chosen)),
        prints=(*words.prints, *pieces.prints.prints),
        typed=tuple(_typed(memory, chosen)),
        images=tuple(_images(memory, chosen)),
        sentences=tuple(_sentences_of_short(chosen, unsearched, said_by_person)),
    )
    work = ForgetWork(memory, job)
    kept = tuple(_kept(work))
    staying = {found for name in kept for found in work.prints.found(read_bytes(memory.workspace.root / name))}
    beside = beside_of(work, set(entries), set(conversations))
    job = replace(
        job,
        beside=tuple(beside),
        kept=tuple(map(work.hashed, kept)),
        kept_prints=tuple(sorted(staying)),
        also_in=also.conversations,
    )
    work = ForgetWork(memory, job)
    derived = derived_of(work, entries, conversations)
    losing, renamed, lines = files_losing_names(work, conversations), tuple(_renamed(work)), _all_lines(work, chosen)
    job = replace(
        job,
        unnamed=tuple(seq for file in losing for seq in file.conversations),
        unnamed_notes=tuple(work.hashed(new) for _, new in renamed),
    )
    plan = ForgetPlan(
        title=chosen.title,
        job=job,
        entries=tuple(_planned(memory, chosen.entries)),
        entry_count=len(entries),
        derived=tuple(_planned(memory, derived)),
        derived_count=len(derived),
        conversations=tuple(_conversations(memory, conversations)),
        lines=tuple(lines),
        pages=len(pages_of(memory, [*entries, *derived], conversations)),
        names=_names(work),
        also_said=tuple(entry.id for entry in memory.conversations.entries(also.entries).values()),
        also_in=tuple(
            replace(found, title=work.replaced(found.title)) for found in _conversations(memory, also.conversations)
        ),
        renamed=renamed,
        kept=kept,
        past=len(chosen.past),
        same_id=tuple(_conversations(memory, chosen.same_id)),
        file_name=chosen.file_name,
        unnamed=(*losing, *_notes_losing_names(memory, renamed, lines)),
        unread=tuple(unread_notes(memory)),
    )
    if not (job.prints and plan.is_empty):
        return plan
    copies = find_copies(work)
    return replace(plan, copies=copies.kinds, kept=tuple(dict.fromkeys((*kept, *copies.others))))


def unread_notes(memory: Memory) -> Iterable[str]:
    """Sentences about notes that could not be read, and so stay as they are."""
    yield from (problem.text for problem in memory.hot.problems)
    notes = memory.workspace.memory_md
    if status(notes) is not None and not is_file(notes):
        yield f"{notes} is not a file."


def _renamed(work: ForgetWork) -> Iterable[tuple[str, str]]:
    pairs = ((file.path, work.named(file.path)) for file in work.memory.hot.files())
    return [(name, new) for name, new in pairs if name != new]


def _notes_losing_names(
    memory: Memory, renamed: Sequence[tuple[str, str]], lines: Sequence[NamedLine]
) -> Iterable[NamedFile]:
    """Notes that get another name and keep any of their lines."""
    going = Counter(line.file for line in lines if line.text.strip())
    texts = {file.path: file.text for file in memory.hot.files()}
    for name, _ in renamed:
        if sum(bool(line.strip()) for line in texts[name].splitlines()) > going[name]:
            yield NamedFile(name=name, ref=name)


def _own_words(db: apsw.Connection) -> bytes:
    """What the files of every workspace hold: the store's schema, and the kinds and roles of its rows."""
    schema = [sql for (sql,) in fetch(db, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")]
    return "\n".join(
        [*schema, *EntryKind, *Role, *LINKABLE_FILES, "palimpsest", "archive delegate knowledge chat"]
    ).encode()


def keeping_lines(memory: Memory, plan: ForgetPlan, lines: Collection[NamedLine]) -> ForgetPlan:
    """The plan with these lines of notes staying as they are. All else that holds the words goes."""
    secret = memory.cold.secret
    kept = {NoteLine(line_hash(secret, line.file), line_hash(secret, line.text)) for line in lines}
    prints = Fingerprints(plan.job.prints, memory.cold.secret)
    staying = {found for line in lines for found in prints.found(to_bytes(line.text))}
    job = replace(
        plan.job,
        kept_lines=tuple(kept),
        lines=tuple(line for line in plan.job.lines if line not in kept),
        kept_prints=tuple(sorted({*plan.job.kept_prints, *staying})),
    )
    return replace(plan, job=job, lines=tuple(line for line in plan.lines if line not in lines))


def _pieces(memory: Memory, chosen: Chosen) -> list[str]:
    pieces: dict[str, None] = {}
    sources = memory.cold.read(roles_of_sources)
    for entry in entries_of(memory, chosen):
        if entry.seq not in sources:  # it repeats others, in a frame of our own words
            continue
        text = text_of(memory, entry)
        pieces.update(dict.fromkeys(pieces_of(text)))
        if isinstance(reasoning := entry.meta.get("reasoning"), str):
            pieces.update(dict.fromkeys(pieces_of(reasoning)))
        pieces.update((title, None) for title in _title_of(memory, entry, text) if len(title) >= _SHORTEST_TITLE)
    for line in (*chosen.lines, *chosen.past):
        pieces.update(dict.fromkeys(pieces_of(line.text)))
    every = list(pieces)
    step = -(-len(every) // MOST_PIECES) if every else 1
    return every[::step]


def _sentences_of_short(chosen: Chosen, unsearched: int, shared: Sequence[str]) -> Iterable[str]:
    if any(len(word.encode("utf-8", "surrogatepass")) < SHORTEST for word in chosen.words):
        yield "Not searched for in other texts: two letters or digits are too short for that."
    if shared:
        yield f"Kept: short lines, codes or names of it that are also in {', '.join(map(visible_line, shared[:20]))}."
    if unsearched:
        yield f"Not searched for in other texts: {counted(unsearched, 'short line')} of it that many texts contain."


def _typed(memory: Memory, chosen: Chosen) -> Iterable[str]:
    """Hashes of what the person typed, by which it is known again among the prompts."""
    hashes: dict[str, None] = {}
    for entry in entries_of(memory, chosen):
        if entry.kind is EntryKind.MESSAGE and entry.role is Role.USER:
            hashes[line_hash(memory.cold.secret, text_of(memory, entry))] = None
    return hashes


def _images(memory: Memory, chosen: Chosen) -> Iterable[str]:
    """Names of the clipboard's images that these messages attach."""
    found = (path for entry in entries_of(memory, chosen) for path in images_in(text_of(memory, entry)))
    return dict.fromkeys(name for path in found for name in re.findall(r"clipboard-[0-9a-f]{12}\.png", path))


def _title_of(memory: Memory, entry: Entry, text: str) -> list[str]:
    """The conversation's title where it is the beginning of this message."""
    if entry.role is not Role.USER or entry.kind is not EntryKind.MESSAGE:
        return []
    whole = memory.conversations.at(entry.conversation_seq).title
    title, said = whole.rstrip("… "), " ".join(text.split())
    begins = said.startswith(" ".join(title.split())) and (whole != title or len(title) >= _SHORTEST_TITLE)
    return [title] if title and (begins or said == title) and not is_mark(title) else []


def _titled(memory: Memory, chosen: Chosen) -> Iterable[int]:
    """Conversations that stay and whose titles are the beginning of a message that goes."""
    entries = (
        entry for batch in batches(list(chosen.entries)) for entry in memory.conversations.entries(batch).values()
    )
    return dict.fromkeys(e.conversation_seq for e in entries if _title_of(memory, e, text_of(memory, e)))


def _refs(memory: Memory, entries: Sequence[int], conversations: Sequence[int]) -> list[str]:
    secret, refs = memory.cold.secret, dict[str, None]()
    for batch in batches(list(entries)):
        ids = [entry.id for entry in memory.conversations.entries(batch).values()]
        refs.update((line_hash(secret, ref), None) for ref in both_forms(ids))
    for seq in conversations:
        id_ = memory.conversations.at(seq).id
        drafts = (draft_name(id_), *(draft_name(f"{id_}-{number}") for number in range(2, MOST_DRAFTS + 1)))
        refs.update((line_hash(secret, ref), None) for ref in (id_, *drafts))
    return list(refs)


def _planned(memory: Memory, reasons: Mapping[int, str]) -> list[PlannedEntry]:
    found = memory.conversations.entries(list(reasons)[:MOST_SHOWN])
    return [
        PlannedEntry(
            id=entry.id,
            conversation=entry.conversation,
            time=entry.time,
            by=entry.said_by,
            line=first_line(text_of(memory, entry)),
            kind=entry.kind.value,
            why=reasons[entry.seq],
        )
        for entry in found.values()
    ]


def first_line(text: str) -> str:
    """The first line with words, short enough for a list."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return visible_line(line if len(line) <= _LINE else f"{line[: _LINE - 1]}…")


def _conversations(memory: Memory, seqs: Sequence[int]) -> list[NamedConversation]:
    sql = "SELECT count(*) FROM entries WHERE conversation = ?"
    return [
        NamedConversation(
            id=found.id,
            title=visible_line(found.title),
            kind=found.kind,
            entries=memory.cold.read(lambda db, seq=seq: fetch(db, sql, (seq,)))[0][0],
        )
        for seq in seqs
        for found in [memory.conversations.at(seq)]
    ]


def _all_lines(work: ForgetWork, chosen: Chosen) -> list[NamedLine]:
    """The lines of notes that were named, and those that hold any of the words."""
    from memory.forget.notes import lines_that_go

    named: dict[NamedLine, None] = {}
    work.memory.hot.look()
    for file in work.memory.hot.files():
        if work.keeps(file.path):
            continue
        lines = lines_of(file.text)
        for number in lines_that_go(work, file.path, file.text):
            named[NamedLine(file.path, number + 1, lines[number].rstrip("\r\n"))] = None
    return list(named) or list(chosen.lines)


def pages_of(memory: Memory, entries: Sequence[int], conversations: Sequence[int]) -> set[str]:
    """Ids of the pages that hold these entries, and those of these conversations."""
    pages: set[str] = set()
    for batch in batches(sorted(entries)):
        sql = f"SELECT DISTINCT page FROM spans WHERE entry IN ({marks(batch)})"
        pages.update(row[0] for row in memory.cold.read(lambda db, sql=sql, batch=batch: fetch(db, sql, batch)))
    for seq in conversations:
        sql = "SELECT DISTINCT s.page FROM spans s JOIN entries e ON e.seq = s.entry WHERE e.conversation = ?"
        pages.update(row[0] for row in memory.cold.read(lambda db, sql=sql, seq=seq: fetch(db, sql, (seq,))))
    return pages


def _names(work: ForgetWork) -> int:
    sql = """SELECT title FROM conversations UNION ALL SELECT CAST(label AS BLOB) FROM labels
             UNION ALL SELECT CAST(label AS BLOB) FROM archives UNION ALL SELECT CAST(tag AS BLOB) FROM archive_tags
             UNION ALL SELECT CAST(source || char(10) || name || char(10) || root AS BLOB) FROM knowledge"""
    names = work.memory.cold.read(lambda db: fetch(db, sql))
    return sum(work.prints.holds(name) for (name,) in names)


def _kept(work: ForgetWork) -> Iterable[str]:
    """The person's own files that hold the words: instructions, skills, files of a project. They are named and stay."""
    if work.prints:
        yield from (name for name, body in own_files(work.workspace) if work.prints.holds(body))
