"""`palimpsest archive --list`, `--older-than`, `--tag`, `--pin`, `--repack`: list and maintain archives."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from agent.cli import output
from agent.cli.invocation import Invocation
from agent.services.archive_older import GROWS, aging_sentence, archive_older, damage_sentences
from foundation.clock import SystemClock, iso
from foundation.errors import Misuse
from foundation.privacy import as_made
from foundation.program import PROGRAM
from foundation.sizes import format_size
from foundation.text.dates.filter_dates import parse_moment
from memory.archive.lifecycle.overdue import PINNED
from memory.errors import NotFound
from memory.pages.types import ArchiveRow

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.memory import Memory


def list_all(invocation: Invocation) -> None:
    """Lists the archives, newest first."""
    with invocation.memory() as memory:
        archives = memory.vault.archives()
    if invocation.json:
        output.json_object({"archives": [_archive_object(archive) for archive in archives]})
        return
    rows = [
        (
            f"#{archive.seq}",
            iso(archive.created)[:16].replace("T", " "),
            archive.origin,
            f"{archive.pages:,}",
            f"{archive.text_tokens:,}",
            f"{archive.vision_tokens:,}",
            "pinned" if archive.pinned else "",
            " ".join(archive.tags),
            archive.label,
        )
        for archive in archives
    ]
    output.table(rows, ("NO", "WHEN", "FROM", "PAGES", "TEXT TOKENS", "VISION TOKENS", "PINNED", "TAGS", "LABEL"))


def change(invocation: Invocation, action: str, values: Sequence[str]) -> None:
    """`--tag`, `--untag`, `--pin`, `--unpin`, `--rename`: changes one archive, by its label or number."""
    ref, value = values[0], values[1].strip() if len(values) > 1 else ""
    if not ref.strip() or (len(values) > 1 and not value):
        raise Misuse("Empty value", f"--{action} needs a value.", f"{PROGRAM} archive --tag LABEL TAG")
    with invocation.memory(for_writing=True) as memory:
        vault = memory.vault
        if action in {"pin", "unpin"} and _pin_conversation(invocation, memory, ref, pinned=action == "pin"):
            return
        archive = vault.find_archive(ref)
        match action:
            case "tag":
                archive = vault.tag(archive.seq, value)
            case "untag":
                if value not in archive.tags:
                    raise Misuse("No such tag", f"“{archive.label}” (#{archive.seq}) has no tag “{value}”.")
                archive = vault.untag(archive.seq, value)
            case "pin":
                archive = vault.pin(archive.seq)
            case "unpin":
                archive = vault.unpin(archive.seq)
            case _:
                archive = vault.relabel(archive.seq, value)
    if invocation.json:
        output.json_object({"archive": _archive_object(archive)})
        return
    tags = f", tags: {', '.join(archive.tags)}" if archive.tags else ""
    output.narrate(f"#{archive.seq} “{archive.label}”{', pinned' if archive.pinned else ''}{tags}.")


def _pin_conversation(invocation: Invocation, memory: Memory, ref: str, *, pinned: bool) -> bool:
    """Pins the conversation that REF names; False where REF names an archive. Raises NotFound."""
    try:
        memory.vault.find_archive(ref)
    except NotFound:
        conversation = memory.conversations.find(ref)
    else:
        return False
    if pinned:
        memory.conversations.label(conversation.seq, as_made(PINNED))
    else:
        memory.conversations.unlabel(conversation.seq, PINNED)
    if invocation.json:
        output.json_object({"conversation": conversation.id, "pinned": pinned})
    else:
        output.narrate(f"“{conversation.title or conversation.id}” {'is pinned' if pinned else 'ages again'}.")
    return True


def older_than(invocation: Invocation, age: str, *, dry_run: bool, growing: bool) -> None:
    """Archives conversations that were not touched since then."""
    before = parse_moment(age, SystemClock().now())
    with invocation.memory(for_writing=not dry_run) as memory, output.Progress("pages") as progress:
        aging = archive_older(memory, before, dry_run=dry_run, growing=growing, on_page=progress)
    for sentence in damage_sentences(aging):
        output.narrate(sentence)
    invocation.status = 1 if aging.met_damage else 0
    if invocation.json:
        output.json_object(aging)
        return
    rows = [
        (
            iso(aged.touched)[:10],
            f"{aged.entries:,}",
            f"{aged.pages:,}",
            f"{aged.text_tokens:,}",
            f"{aged.vision_tokens:,}",
            aged.spared and f"kept: {aged.spared}",
            aged.title or aged.conversation,
        )
        for aged in aging.conversations
    ]
    if rows:
        output.table(rows, ("LAST ACTIVE", "ENTRIES", "PAGES", "TEXT TOKENS", "VISION TOKENS", "", "CONVERSATION"))
    output.narrate(aging_sentence(aging))
    if grows := sum(aged.spared == GROWS for aged in aging.conversations):
        output.narrate(f"{grows:,} would take more tokens as pages and stay as text; --growing archives them anyway.")


def repack(invocation: Invocation) -> None:
    """Repacks all pages at rest now."""
    with invocation.memory(for_writing=True) as memory, output.Progress("pages packed") as progress:
        result = memory.vault.repacking.run(min_age=timedelta(0), least=1, on_page=progress)
    if invocation.json:
        output.json_object(result)
        return
    if not result.pages:
        output.narrate("All pages are already packed.")
        return
    saved = result.bytes_before - result.bytes_after
    output.narrate(
        f"{result.pages:,} pages in {result.packs:,} pack{'s' if result.packs != 1 else ''}: "
        f"{format_size(result.bytes_before)} → {format_size(result.bytes_after)} ({format_size(saved)} less)."
    )


def _archive_object(archive: ArchiveRow) -> dict[str, object]:
    return {
        "number": archive.seq,
        "label": archive.label,
        "created": archive.created,
        "origin": archive.origin,
        "pages": archive.pages,
        "text_tokens": archive.text_tokens,
        "vision_tokens": archive.vision_tokens,
        "tags": archive.tags,
        "pinned": archive.pinned,
    }
