"""Palimpsest as a library: put a long text away as page images, and read it back.

from memory import archive_conversation, recall_memory

kept = archive_conversation(text, label="session_20260201")
recall_memory(kept["image_path"]) == text[: kept["pages"][0]["chars"]]
recall_memory("session_20260201") == text
"""

import os
from contextlib import closing
from pathlib import Path
from typing import Any

from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.trust import Trust
from memory.archive import read_png
from memory.archive.json import archived_as_json
from memory.archive.write.sidecar import keep_text as keep
from memory.errors import InexactText, NotFound
from memory.memory import Memory
from memory.pages.types import PageText

FolderPath = str | os.PathLike[str]


def archive_conversation(
    text: str, label: str, workspace: FolderPath | None = None, *, mode: str = "base", keep_text: bool = True
) -> dict[str, Any]:
    """Archives the text, to the letter, in a workspace: the current folder where none is named.

    Gives what `palimpsest archive --json` prints, and `image_path` (the first page's PNG, there for a day at least) and
    `compression_ratio` (text tokens a vision token). With `keep_text` the text also stands as
    `memory/archive/<label>.md`. `mode` is tiny, small, base or large. Raises Misuse for another.
    """
    place = _workspace(workspace)
    given = as_given(text)
    with closing(Memory.open(place)) as memory:
        archived = memory.vault.archive_text(given, label=label, mode=mode)
        shape = archived_as_json(archived, memory.vault.png)
    if keep_text:
        keep(place.kept_texts, label, given)
    return {**shape, "image_path": shape["pages"][0]["path"], "compression_ratio": shape["ratio"]}


def recall_memory(ref: FolderPath, workspace: FolderPath | None = None, *, exact: bool = True) -> str:
    """The text of a page's picture (a path), a page (`pg_…`), or all that was archived under a label.

    A picture needs no workspace; where there is one that has its page with another text, it is not exact. Of a page
    that no workspace here knows, exact means that its pixels are as they were drawn: nothing vouches for who drew them.
    Raises InexactText where the text cannot be vouched for to the letter, unless `exact` is False;
    NotFound; NotAPage for a picture that is none of our pages.
    """
    if os.path.isfile(ref):  # noqa: PTH113 -- a label too long for a file name is no file, and no error
        page, place = read_png(Path(ref)), _workspace(workspace)
        if exact and place.database.exists():
            _refuse_forged(place, page)
        return _vouched([page], exact)
    place = _workspace(workspace)
    if not place.database.exists():
        raise NotFound("Nothing by that name", f"{ref} is no picture, and {place.root} is no workspace.")
    with closing(Memory.open(place)) as memory:
        return _vouched([memory.vault.read_page(page) for page in _pages(memory, str(ref))], exact)


def _workspace(folder: FolderPath | None) -> Workspace:
    return Workspace(Path.cwd() if folder is None else Path(folder).absolute())


def _pages(memory: Memory, ref: str) -> list[str]:
    if ref.startswith("pg_"):
        return [ref]
    for archive in memory.vault.archives():
        if archive.label == ref:
            return [page.id for page in memory.vault.pages(archive.seq)]
    raise NotFound(
        "Nothing by that name",
        f"{ref} is no picture, no page and no archive's label in {memory.workspace.root}.",
        "`palimpsest archive --list` shows what is archived.",
    )


def _refuse_forged(place: Workspace, page: PageText) -> None:
    with closing(Memory.open(place)) as memory:
        if not memory.vault.contradicts(page.page_id, page.text):
            return
    raise InexactText(
        "Another page",
        f"{place.root} has a page {page.page_id} with another text: the picture was altered, or is not that page.",
        "Ask for the page by its id, or with exact=False to have the text as it reads.",
    )


def _vouched(pages: list[PageText], exact: bool) -> str:
    doubtful = [page for page in pages if page.trust is not Trust.EXACT]
    if doubtful and exact:
        page = doubtful[0]
        name = f"Page {page.page_id}" if page.page_id else "A page, whose header is damaged,"
        raise InexactText(
            "Not to the letter",
            f"{name} does not match its hash; {len(page.doubt)} lines are in doubt.",
            "Ask for it with exact=False to have the text as it reads, or find an undamaged copy of the picture.",
        )
    return "".join(page.text for page in pages)
