"""Archiving a text: what it leaves, and what it does not where it fails."""

from collections.abc import Iterator

import pytest

from agent.services.archive import archive_text
from foundation.paths import Workspace
from memory.memory import Memory

TEXT = "".join(f"{n}: 3.14 the ferry passes /srv/app/v1.2.3 at 09:40\n" for n in range(900))


@pytest.fixture
def memory(workspace: Workspace) -> Iterator[Memory]:
    opened = Memory.open(workspace)
    yield opened
    opened.close()


def test_the_pictures_of_pages_are_those_of_the_pack(memory: Memory) -> None:
    result = archive_text(memory, TEXT, "log", mode="small")
    assert len(result.pictures) > 3
    for page, picture in zip(result.archived.pages, result.pictures, strict=True):
        assert picture.read_bytes() == memory.vault.page_reader.png(page)


def test_a_cancelled_archive_leaves_no_picture(memory: Memory, workspace: Workspace) -> None:
    def cancel(_done: int) -> None:
        if list(workspace.own.rglob("pg_*.png")):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        archive_text(memory, TEXT, "log", mode="small", on_page=cancel)
    assert not list(workspace.own.rglob("pg_*.png")) and not memory.vault.archives()


def test_the_cheapest_layout_is_taken_unless_a_mode_is_named(memory: Memory) -> None:
    chosen = archive_text(memory, TEXT, "log")
    assert {page.cell for page in chosen.archived.pages} == {"6x12"}
    for mode in ("tiny", "small", "base", "large"):
        for dense in (False, True):
            named = archive_text(memory, TEXT, f"log {mode} {dense}", mode=mode, dense=dense)
            assert chosen.archived.vision_tokens <= named.archived.vision_tokens
