"""Palimpsest as a library: put a long text away as page images, and read it back.

from memory import archive_conversation, recall_memory

kept = archive_conversation(text, label="session_20260201")
recall_memory(kept["image_path"]) == text[: kept["pages"][0]["chars"]]
recall_memory("session_20260201") == text
"""

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.trust import Citation, Trust
from memory.archive import read_png
from memory.archive.json import archived_as_json
from memory.errors import InexactText, NotFound
from memory.memory import Memory
from memory.pages.render.modes import DENSE
from memory.pages.types import PageText
from memory.recalled_passage import RecalledPassage, passage_of_page
from memory.settings import AUTO

FolderPath = str | os.PathLike[str]


def archive_conversation(
    text: str, label: str, workspace: FolderPath | None = None, *, mode: str = AUTO, keep_text: bool = True
) -> dict[str, Any]:
    """Archives the text, to the letter, in a workspace: the current folder where none is named.

    Gives what `palimpsest archive --json` prints, and `image_path` (the first page's PNG, there for a day at least) and
    `compression_ratio` (text tokens a vision token). With `keep_text` the text is also stored as
    `memory/archive/<label>.md`. `mode` is tiny, small, base, large, or auto: the cheapest layout for the profile
    (deepseek-ocr). Raises Misuse for another.
    """
    place = _workspace(workspace)
    given = as_given(text)
    with closing(Memory.open(place)) as memory:
        dense = None
        if mode == AUTO:
            chosen = memory.vault.choose_layout(given).mode
            mode, dense = chosen.name, chosen.cell == DENSE
        archived = memory.vault.archive_text(given, label=label, mode=mode, dense=dense)
        shape = archived_as_json(archived, memory.vault.png)
        if keep_text:
            memory.vault.keep_text(label, given)
    return {**shape, "image_path": shape["pages"][0]["path"], "compression_ratio": shape["ratio"]}


def recall_memory(ref: FolderPath, workspace: FolderPath | None = None, *, exact: bool = True) -> str:
    """The text of a page's picture (a path), or of what a reference names: a page (`pg_…`), all that was archived under
    a label or number, an entry, a note (memory.references).

    A picture needs no workspace; where there is one that has its page with another text, it is not exact. Of a page
    that no workspace here knows, exact means that its pixels are as they were drawn: nothing vouches for who drew them.
    Raises InexactText where the text cannot be vouched for to the letter, unless `exact` is False;
    NotFound; NotAPage for a picture that is none of our pages.
    """
    if os.path.isfile(ref):  # noqa: PTH113 -- a label too long for a file name is no file, and no error
        page, place = read_png(Path(ref)), _workspace(workspace)
        if exact and place.database.exists():
            _refuse_forged(place, page)
        return _vouched([passage_of_page(page, Citation(kind="page", ref=page.page_id))], exact)
    place = _workspace(workspace)
    if not place.database.exists():
        raise NotFound("Nothing by that name", f"{ref} is not a picture, and {place.root} is not a workspace.")
    with closing(Memory.open(place)) as memory:
        return _vouched(memory.recall(str(ref)), exact)


def _workspace(folder: FolderPath | None) -> Workspace:
    return Workspace(Path.cwd() if folder is None else Path(folder).absolute())


def _refuse_forged(place: Workspace, page: PageText) -> None:
    with closing(Memory.open(place)) as memory:
        if not memory.vault.contradicts(page.page_id, page.text):
            return
    raise InexactText(
        "Another page",
        f"{place.root} has a page {page.page_id} with a different text: the picture was altered, or is another page.",
        "Request the page by its id, or use exact=False to get the text as read.",
    )


def _vouched(passages: Sequence[RecalledPassage], exact: bool) -> str:
    doubtful = [passage for passage in passages if passage.trust is not Trust.EXACT]
    if doubtful and exact:
        passage = doubtful[0]
        name = passage.citation.ref or "A page, whose header is damaged,"
        raise InexactText(
            "Not exact",
            f"{name} is not exact: {_reason(passage)}",
            "Use exact=False to get the text as read, or find an undamaged copy.",
        )
    return "".join(passage.text for passage in passages)


def _reason(passage: RecalledPassage) -> str:
    if passage.doubt:
        return f"its pixels do not match its hash; {len(passage.doubt)} lines are uncertain."
    return " ".join(passage.warnings) or "its pixels do not match its hash."
