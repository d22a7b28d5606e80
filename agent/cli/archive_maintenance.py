"""`palimpsest archive --list`, `--older-than`, `--tag`, `--pin`, `--repack`: what is there, and its upkeep."""

from collections.abc import Sequence
from datetime import timedelta

from agent.cli import output
from agent.cli.invocation import Invocation
from foundation.clock import SystemClock, iso
from foundation.errors import Misuse
from foundation.privacy import as_made
from foundation.program import PROGRAM
from foundation.sizes import format_size
from memory.archive.lifecycle.overdue import PINNED
from memory.errors import NotFound
from memory.memory import Memory
from memory.pages.types import ArchiveRow


def list_all(invocation: Invocation) -> None:
    """Newest first."""
    with invocation.memory() as memory:
        archives = memory.vault.archives()
    if invocation.json:
        output.json_object({"archives": [_described(one) for one in archives]})
        return
    rows = [
        (
            f"#{one.seq}",
            iso(one.created)[:16].replace("T", " "),
            one.origin,
            f"{one.pages:,}",
            f"{one.text_tokens:,}",
            f"{one.vision_tokens:,}",
            "pinned" if one.pinned else "",
            " ".join(one.tags),
            one.label,
        )
        for one in archives
    ]
    output.table(rows, ("NO", "WHEN", "FROM", "PAGES", "TEXT TOKENS", "VISION TOKENS", "PINNED", "TAGS", "LABEL"))


def change(invocation: Invocation, what: str, words: Sequence[str]) -> None:
    """`--tag`, `--untag`, `--pin`, `--unpin`, `--rename`: one archive, by its label or number."""
    ref, new = words[0], words[1].strip() if len(words) > 1 else ""
    if not ref.strip() or (len(words) > 1 and not new):
        raise Misuse("An empty word", f"--{what} needs words.", f"{PROGRAM} archive --tag LABEL TAG")
    with invocation.memory(for_writing=True) as memory:
        vault = memory.vault
        if what in {"pin", "unpin"} and _pin_conversation(invocation, memory, ref, pinned=what == "pin"):
            return
        archive = vault.find_archive(ref)
        match what:
            case "tag":
                archive = vault.tag(archive.seq, new)
            case "untag":
                if new not in archive.tags:
                    raise Misuse("No such tag", f"“{archive.label}” (#{archive.seq}) has no tag “{new}”.")
                archive = vault.untag(archive.seq, new)
            case "pin":
                archive = vault.pin(archive.seq)
            case "unpin":
                archive = vault.unpin(archive.seq)
            case _:
                archive = vault.relabel(archive.seq, new)
    if invocation.json:
        output.json_object({"archive": _described(archive)})
        return
    tags = f", tags: {', '.join(archive.tags)}" if archive.tags else ""
    output.say(f"#{archive.seq} “{archive.label}”{', pinned' if archive.pinned else ''}{tags}.")


def _pin_conversation(invocation: Invocation, memory: Memory, ref: str, *, pinned: bool) -> bool:
    """Where REF is no archive, but a conversation: that is pinned, by its label. False where it is neither."""
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
        output.say(f"“{conversation.title or conversation.id}” {'is pinned' if pinned else 'ages again'}.")
    return True


def older_than(invocation: Invocation, age: str, dry_run: bool) -> None:
    """What was not touched since then leaves for pages."""
    from agent.services.archive_older import aging_sentence, archive_older, damage_sentences
    from foundation.text.dates.spans import parse_moment

    before = parse_moment(age, SystemClock().now())
    with invocation.memory(for_writing=not dry_run) as memory, output.Progress("pages") as progress:
        aging = archive_older(memory, before, dry_run=dry_run, on_page=progress)
    for sentence in damage_sentences(aging):
        output.say(sentence)
    invocation.status = 1 if aging.met_damage else 0
    if invocation.json:
        output.json_object(aging)
        return
    rows = [
        (
            iso(one.touched)[:10],
            f"{one.entries:,}",
            f"{one.pages:,}",
            f"{one.text_tokens:,}",
            f"{one.vision_tokens:,}",
            one.spared and f"stays: {one.spared}",
            one.title or one.conversation,
        )
        for one in aging.conversations
    ]
    if rows:
        output.table(rows, ("TOUCHED", "ENTRIES", "PAGES", "TEXT TOKENS", "VISION TOKENS", "", "CONVERSATION"))
    output.say(aging_sentence(aging))


def repack(invocation: Invocation) -> None:
    """All pages, packed tighter now."""
    with invocation.memory(for_writing=True) as memory, output.Progress("pages packed") as progress:
        did = memory.vault.repacking.run(rest=timedelta(0), least=1, on_page=progress)
    if invocation.json:
        output.json_object(did)
        return
    if not did.pages:
        output.say("All pages are packed tightly already.")
        return
    saved = did.bytes_before - did.bytes_after
    output.say(
        f"{did.pages:,} pages in {did.packs:,} pack{'s' if did.packs != 1 else ''}: "
        f"{format_size(did.bytes_before)} → {format_size(did.bytes_after)} ({format_size(saved)} less)."
    )


def _described(one: ArchiveRow) -> dict[str, object]:
    return {
        "number": one.seq,
        "label": one.label,
        "created": one.created,
        "origin": one.origin,
        "pages": one.pages,
        "text_tokens": one.text_tokens,
        "vision_tokens": one.vision_tokens,
        "tags": one.tags,
        "pinned": one.pinned,
    }
