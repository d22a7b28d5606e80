"""Slash commands that move older turns, or a file, to the archive: /archive and /compact."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.commands.command import Command
from agent.commands.results import OpenNamedScreen, Outcome, Proposal, TextResult
from agent.commands.tables import preview_rows
from foundation.errors import Misuse
from foundation.paths import expand_home
from foundation.privacy import clear
from foundation.program import PROGRAM
from foundation.terminal_text import visible

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session
    from memory.pages.types import OnPage

MOST_FOCUS: Final = 200  # characters
_FILE_NAME: Final = re.compile(r"\.[A-Za-z]\w{0,7}\Z")


class CompactArguments(Struct, frozen=True):
    """The arguments of /compact."""

    focus: str = ""
    label: str = ""
    sure: bool = False
    undo: bool = False


async def _archive(session: Session, rest: str) -> Outcome:
    sure, name = _split_yes(rest)
    if name == "--undo":
        return await _undo(session)
    if name.startswith("--"):
        return await _list_or_refuse(session, name)
    if _is_file_name(name):
        return _file_proposal(session, name)
    return await _turns_proposal(session, CompactArguments(label=name, sure=sure))


async def _compact(session: Session, rest: str) -> Outcome:
    arguments = compact_arguments(rest)
    return await _undo(session) if arguments.undo else await _turns_proposal(session, arguments)


async def _undo(session: Session) -> Outcome:
    changes = [notice.text for notice in await session.branch.take_changes()]
    receipt = await session.compaction.undo()
    return TextResult(" ".join([*changes, receipt.text]), changes_context=True)


def compact_arguments(rest: str) -> CompactArguments:
    """The arguments of /compact: words are its focus, those after --label the label. Raises Misuse."""
    words, label, sure, undo = list[str](), list[str](), False, False
    target = words
    for word in rest.split():
        match word:
            case "--yes":
                sure = True
            case "--undo":
                undo = True
            case "--label":
                target = label
            case _ if word.startswith("--label="):
                target = label
                label.append(word.removeprefix("--label="))
            case _ if word.startswith("--"):
                raise Misuse(
                    "No such option",
                    f"/compact takes text, --label, --undo and --yes, but not {word}.",
                    "/compact the parser --label Spring plans",
                )
            case _:
                target.append(word)
    focus, name = " ".join(words), " ".join(label).strip("\"'")
    if target is label and not name:
        raise Misuse("No label", "--label needs a name for the archived messages.", "/compact --label Trip")
    if undo and (focus or name):
        raise Misuse("Undo what?", "/compact --undo undoes the latest compaction and takes no text.", "/compact --undo")
    if len(focus) > MOST_FOCUS:
        raise Misuse(
            "Too long for a focus",
            f"The focus of /compact has {MOST_FOCUS} characters; the maximum is {len(focus):,}.",
            "/compact the parser and its tests",
        )
    return CompactArguments(focus, name, sure, undo)


async def _turns_proposal(session: Session, arguments: CompactArguments) -> Outcome:
    label, focus = clear(arguments.label), clear(arguments.focus)
    changes = [notice.text for notice in await session.branch.take_changes()]
    outlook = await session.compaction.preview(focus=focus)
    if outlook is None:
        return TextResult(" ".join([*changes, await session.compaction.nothing_leaves()]))

    async def run(on_page: OnPage) -> Outcome:
        receipt = await session.compaction.run(on_page, label=label, focus=focus)
        if receipt is None:
            return TextResult(await session.compaction.nothing_leaves())
        done = " ".join([*(changes if arguments.sure else ()), receipt.text, receipt.warning]).strip()
        if not receipt.pages:
            return TextResult(done, changes_context=True)
        pages = await asyncio.to_thread(_pages_of, session, receipt.archived)
        text = f"{done}\n\n{pages} They are archived as “{receipt.archived}”."
        return TextResult(text, changes_context=True)

    return Proposal(
        title="Archive older messages",
        rows=(*(("changed", change) for change in changes), *preview_rows(outlook, label, focus)),
        activity="archiving",
        pages=outlook.pages,
        run=run,
        confirmed=arguments.sure,
    )


def _pages_of(session: Session, label: str) -> str:
    """Pages and tokens of an archive in a sentence."""
    from agent.services.archive import pages_sentence

    row = session.memory.vault.find_archive(label)
    return pages_sentence(row.pages, row.text_tokens)


async def _list_or_refuse(session: Session, argument: str) -> Outcome:
    """Handles arguments that look like options: `--list`; refuses the command line's others."""
    from agent.services.archive import archives_markdown

    option = argument.split(maxsplit=1)[0]
    if argument == "--demo":
        return TextResult(await asyncio.to_thread(_demonstration))
    if argument == "--list":

        async def printed() -> Outcome:
            return TextResult(await asyncio.to_thread(archives_markdown, session.memory))

        return OpenNamedScreen("archive", "", printed)
    raise Misuse(
        "Not in the chat",
        f"/archive takes a label or a file, --undo, --list, --demo and --yes, but not {option}.",
        f"On the command line: {PROGRAM} archive {option} …; {PROGRAM} archive --help lists all options.",
    )


def _demonstration() -> str:
    """A text of our own, its page in figures, and the text that was read back. Blocks."""
    from agent.services.demo import demonstrate, figures

    report = demonstrate()
    rows = [f"- {name}: {visible(sentence)}" for name, sentence in figures(report)]
    both = (("Text", report.text), ("Read back", report.read_back))
    texts = [f"{title}:\n\n```\n{text}\n```" for title, text in both]
    return "\n\n".join([*texts, "\n".join(rows)])


def _file_proposal(session: Session, name: str) -> Proposal:
    if not (path := expand_home(name).absolute()).is_file():
        raise Misuse("No such file", f"There is no file {path}.", "For example: /archive Trip planning")
    from context.compaction.preview import modes_for

    async def run(on_page: OnPage) -> Outcome:
        from agent.services.archive import archive_markdown

        return TextResult(await asyncio.to_thread(archive_markdown, session.memory, name, on_page))

    pages = len(modes_for(path.stat().st_size, session.config.archive))  # a byte is about a cell
    return Proposal(title=f"Archive {name}", activity=f"archiving {name}", pages=pages, run=run, confirmed=True)


def _split_yes(rest: str) -> tuple[bool, str]:
    """Whether the arguments begin or end with --yes, and the others."""
    words = rest.split()
    if "--yes" in (words[:1] + words[-1:]):
        return True, rest.removeprefix("--yes").removesuffix("--yes").strip()
    return False, rest


def _is_file_name(name: str) -> bool:
    """Whether it is an existing file, or can only be a file name: `notes/x`, `letter.txt`."""
    if not name:
        return False
    try:
        if expand_home(name).is_file():
            return True
    except (OSError, RuntimeError, ValueError):  # no valid file name
        return False
    return not re.search(r"\s", name) and ("/" in name or "\\" in name or bool(_FILE_NAME.search(name)))


COMMANDS = (
    Command(
        name="archive",
        summary="Archive older messages or a file as pages, after showing a preview.",
        usage="[LABEL|FILE|--list]",
        keys="Enter confirms, Esc cancels, also while pages are being made. `/archive --yes` skips the "
        "confirmation; `/archive --list` lists archives; `/archive --demo` demonstrates archiving on a "
        "sample text. `/compact` also archives older messages, and takes a focus for the summary.",
        run=_archive,
    ),
    Command(
        name="compact",
        summary="Archive older messages and summarise them, with an optional focus.",
        usage="[FOCUS|--undo]",
        keys="`/compact the parser` prefers lines and figures about the parser, also in later summaries "
        "that replace this one. `--label Spring plans` names the archive. `/compact --undo` puts the "
        "messages of the last compaction back into the request, unchanged. `/compact --yes` skips the "
        "confirmation. Enter confirms, Esc cancels.",
        run=_compact,
    ),
)
