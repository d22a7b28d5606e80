"""Knowledge as a front end asks for it: what to give a model on a question, and files as tables, JSON and sentences."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from context import Attachment
from context.assembly.budget import budget_for
from foundation.clock import iso
from foundation.program import PROGRAM
from foundation.terminal_text import visible
from memory.knowledge.importance.weights import KnowledgeStats, ScoredMemory
from memory.knowledge.ingest.report import AddReport, FileMessage
from memory.knowledge.readers.document import OcrReader
from memory.knowledge.records import KnowledgeRecord
from memory.knowledge.retrieve.select import KnowledgeContext
from models.messages import RecalledSpan
from models.tokens import image_tokens

if TYPE_CHECKING:
    from agent.config.config import Config
    from agent.session import Session


MOST_PASSAGES = 8  # of files, for one question


def bring(session: "Session", question: str) -> KnowledgeContext:
    """What knowledge has on the question, for the model in use, within what may be recalled. Each is used once more."""
    profile, settings = session.profile, session.config.context
    budget = int(budget_for(profile.window, settings).total * settings.recall_share)
    return session.memory.knowledge.get_context_for_query(
        question,
        budget,
        max_vision_tokens=session.config.knowledge.max_vision_tokens,
        cost=(lambda width, height: image_tokens(profile.images, width, height)) if profile.vision else None,
        count=session.model.counter.count,
        most=min(settings.recall_most, MOST_PASSAGES),
    )


def sight(config: "Config") -> Callable[[], OcrReader | None]:
    """What reads words in pictures, as the configuration says; looked for when the first file is read."""
    from memory.knowledge import ocr as here

    return lambda: here.installed_sight(config.models, config.environment)


def recalled(found: KnowledgeContext) -> tuple[RecalledSpan, ...]:
    """The passages, as parts of a request; a page's exact words where it goes as a picture."""
    return tuple(RecalledSpan(one.text, one.citation, one.trust, one.score, one.citation.time) for one in found.brought)


def pictures(found: KnowledgeContext) -> tuple[Attachment, ...]:
    """The pages and pictures that go along."""
    images = (one.image for one in found.brought if one.image)
    return tuple(Attachment(image.name, image.media_type, image.data) for image in images)


def said_of(found: KnowledgeContext) -> str:
    """What a person should know of it; "" where all is ordinary."""
    if not found.brought:
        return f"Nothing that was added has anything on this. `{PROGRAM} knowledge add PATH` adds files."
    if found.out_of_view:
        return "What has it had been out of view: it was asked because nothing in view had anything on this."
    return ""


# ── as JSON ──


def described(one: ScoredMemory) -> dict[str, Any]:
    """A memory, as `knowledge list --json` shows it."""
    known = one.known
    return {
        "id": known.id,
        "name": known.name,
        "source": known.source,
        "kind": known.kind,
        "category": known.category,
        "importance": known.importance,
        "score": round(one.score, 3),
        "accesses": known.accesses,
        "accessed": known.accessed,
        "time": known.added,
        "state": one.standing.state,
        "mode": one.standing.mode,
        "tokens": one.standing.tokens,
        "chars": known.chars,
        "bytes": known.bytes,
        "sha256": known.sha256,
        "missing": known.missing,
    }


def report_object(report: AddReport) -> dict[str, Any]:
    """The object of `knowledge add --json`, less its schema."""
    lists = ("added", "changed", "bad", "skipped", "removed", "deleted", "purged", "forgotten", "read_as")
    return {
        **{name: [_told(told) for told in getattr(report, name)] for name in lists[:2]},
        "unchanged": report.unchanged,
        **{name: [_told(told) for told in getattr(report, name)] for name in lists[2:]},
        "pages": report.pages,
        "text_tokens": report.text_tokens,
        "vision_tokens": report.vision_tokens,
        "secrets": report.secrets,
        "redacted": report.redacted,
        "said": list(report.said),
    }


def _told(told: FileMessage) -> dict[str, str]:
    parts = {"id": told.id, "name": told.name, "source": told.source, "why": told.why, "hint": told.hint}
    return {name: value for name, value in parts.items() if value}


# ── as sentences ──


def summed_up(report: AddReport) -> str:
    """The report in a line: `12 added, 1 changed, 17 unchanged, 2 could not be read.`"""
    counts = (
        (len(report.added), "added"),
        (len(report.changed), "changed"),
        (report.unchanged, "unchanged"),
        (len(report.removed), "gone from disk (kept here)"),
        (len(report.bad), "could not be read"),
        (len(report.skipped), "passed over"),
        (len(report.deleted), "deleted"),
    )
    told = [f"{count:,} {words}" for count, words in counts if count]
    return (", ".join(told) or "There was nothing to add") + "."


def narration(report: AddReport) -> list[str]:
    """What a person should know beside the table: reasons, secrets, what forgetting did; each line once."""
    lines = [f"{told.name}: {told.why}" + (f". {told.hint}" if told.hint else "") for told in _once(report.bad)]
    lines += _grouped(report.skipped)
    lines += [f"{told.name} is gone from disk; what it said is kept." for told in report.removed]
    lines += [f"Deleted {told.name}: {told.why}." for told in report.deleted]
    lines += [f"Deleted an older version of {told.name}, which was not redacted: {told.id}." for told in report.purged]
    lines += report.said
    lines += _by_why(report.read_as, "Read as {}, for it is not UTF-8: {}.")
    lines += _forgetting(report)
    if report.secrets:
        found = f"{report.secrets:,} secret{'s' if report.secrets != 1 else ''}"
        how = "taken out." if report.redacted else "found and kept, for the files are yours. --redact takes them out."
        lines.append(f"{found} {how}")
    return [one_line(line) for line in lines]


def one_line(text: str) -> str:
    """The text on one line of a terminal: a file's name may hold line ends, and worse."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")


def _forgetting(report: AddReport) -> list[str]:
    """What came into view, left it, or is shown smaller, by the reason."""
    because = f", because the budget is {report.budget:,} vision tokens"
    said = {
        "out of view": f"Out of view now{because}",
        "merged": f"Shown by a near-duplicate now{because}",
        "smaller": f"Shown smaller now{because}",
        "in view": "In view again, or larger",
    }
    names: dict[str, list[str]] = {}
    for told in report.forgotten:
        names.setdefault(told.why.partition(":")[0], []).append(told.name)
    lines = [f"{said[why]}: {_names(some)}." for why, some in names.items()]
    away = names.keys() - {"in view"}
    return [*lines, "Nothing is lost: search and recall have all of it."] if away else lines


def _by_why(told: Sequence[FileMessage], sentence: str) -> list[str]:
    by_reason: dict[str, list[str]] = {}
    for one in told:
        by_reason.setdefault(one.why, []).append(one.name)
    return [sentence.format(why, _names(names)) for why, names in by_reason.items()]


def _once(bad: Sequence[FileMessage]) -> list[FileMessage]:
    """The files, with each hint told with the first that it holds for."""
    hints, found = set[str](), list[FileMessage]()
    for told in bad:
        found.append(told if told.hint not in hints else FileMessage(told.name, told.source, told.why))
        hints.add(told.hint)
    return found


def _grouped(skipped: Sequence[FileMessage]) -> list[str]:
    """A line a reason: `Passed over, hidden: .git, .env and 3 more`."""
    return _by_why(skipped, "Passed over ({}): {}")


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")


def row(one: ScoredMemory) -> tuple[str, ...]:
    """A memory as a row of `knowledge list`."""
    known = one.known
    state = f"{one.standing.state}, gone from disk" if known.missing else one.standing.state
    return (
        known.id,
        iso(known.added)[:10],
        known.kind,
        known.category,
        f"{known.importance:g}",
        f"{one.score:.1f}",
        f"{known.accesses:,}",
        f"{one.standing.tokens:,}",
        state,
        one_line(known.name),
    )


HEADS = ("ID", "ADDED", "KIND", "CATEGORY", "IMPORTANCE", "SCORE", "USES", "TOKENS", "STATE", "NAME")


def stats_rows(stats: KnowledgeStats) -> list[tuple[str, str]]:
    """`knowledge stats`, row by row."""
    return [
        ("memories", f"{stats.memories:,}  ({stats.chars:,} characters)"),
        ("asked first", f"{stats.in_view:,}  ({stats.merged:,} merged, {stats.out_of_view:,} out of view)"),
        ("in view at once", f"{stats.tokens:,} of {stats.max_tokens:,} vision tokens"),
        ("utilisation", f"{stats.utilisation:,.1f} %"),
        ("average importance", f"{stats.average_importance:.2f}  (given by hand: {stats.average_given:.2f})"),
        ("uses", f"{stats.accesses:,}"),
        ("gone from disk", f"{stats.missing:,}"),
        ("older versions", f"{stats.older_versions:,}"),
    ]


def stats_meaning(stats: KnowledgeStats) -> str:
    """What utilisation means, in a line."""
    return (
        f"Utilisation is what stands in view at once, of knowledge.max_vision_tokens ({stats.max_tokens:,}): the most "
        f"that one question is shown as pages. All that may be asked for has {stats.tokens_of_all:,}."
    )


def about(known: KnowledgeRecord) -> str:
    """A line above a file's text."""
    missing = f", gone from disk since {iso(known.missing)[:10]}" if known.missing else ""
    return one_line(
        f"{known.name} ({known.id}): {known.kind}, importance {known.importance:g}, {known.accesses:,} uses, "
        f"added {iso(known.added)[:10]}{missing}. {known.source}"
    )
