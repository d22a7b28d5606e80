"""Pages that 0.1.0 wrote, PALIMPSEST-1, are read for ever. That version made them, and they never change."""

import json
from pathlib import Path

import pytest

from foundation.trust import Trust
from memory.archive.packs.pack import Pack
from memory.archive.packs.storage import LocalStorage
from memory.pages.read.exact import read_exact
from memory.pages.render.header import text_digest

RELEASED = Path(__file__).parents[1] / "pages" / "data" / "released-0.1.0"
TEXTS: dict[str, str] = json.loads((RELEASED / "texts.json").read_text("ascii"))


@pytest.mark.parametrize("name", TEXTS)
def test_a_page_of_the_first_release_reads_exactly(name: str) -> None:
    reading = read_exact((RELEASED / f"{name}.png").read_bytes())
    assert (reading.text, reading.trust, reading.heads) == (TEXTS[name], Trust.EXACT, ())
    assert reading.header is not None
    assert (reading.header.version, reading.header.sha256) == (1, text_digest(TEXTS[name]).hex())
    assert reading.header.page == f"pg_{reading.header.number:012}"


def test_a_pack_of_the_first_release_gives_its_pages() -> None:
    pack = Pack(LocalStorage(RELEASED), "three.pages")
    assert [read_exact(pack.png(position)).text for position in range(len(pack.pages))] == list(TEXTS.values())
