"""Which reader reads what, and how far it is trusted."""

import io
from datetime import UTC, datetime

import pytest
from PIL import Image

from foundation.trust import Trust
from memory.errors import NotAPage
from memory.pages.read.reader import READERS, read_picture
from memory.pages.render.entry_heads import EntryHead
from memory.recalled_passage import attributed_texts
from models.errors import MissingLibrary
from models.ocr.open import ENGINES
from models.ocr.port import OcrLine
from tests.memory.archive.ocr_fakes import PAGE_ID, FakeEngine, forged, page, redrawn, unproven

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # the nearest glyph first loads both tables' shapes

ROW = 63  # with its line end such a line fills a row of a tiny page, so that there is a crop a line
SAID = " was said at the pier by the man who keeps the light and counts the ships"
LINES = [(words + SAID)[:ROW] for words in ("The ferry is late", "It will rain", "Bring a scarf", "Gate two")]
TEXT = "\n".join(LINES)


def photo() -> bytes:
    return redrawn(page(TEXT), lambda _: Image.new("L", (300, 200), 255))


def test_a_whole_page_needs_no_engine() -> None:
    engine = FakeEngine([])
    found = read_picture(page(TEXT), ocr=engine)
    assert (found.text, found.trust, found.engine, found.page_id) == (TEXT, Trust.EXACT, "cells", PAGE_ID)
    assert engine.crops == engine.pictures == []


def test_a_scaled_page_is_exact_by_the_nearest_glyph() -> None:
    scaled = redrawn(page(TEXT), lambda image: image.resize((456, 456), Image.Resampling.BICUBIC))
    found = read_picture(scaled, ocr=FakeEngine([]))
    assert (found.text, found.trust, found.engine) == (TEXT, Trust.EXACT, "nearest")


def test_a_damaged_page_that_a_second_reader_reads_alike_is_verified() -> None:
    found = read_picture(unproven(page(TEXT)), ocr=FakeEngine(LINES))
    assert (found.text, found.trust, found.doubt) == (TEXT, Trust.VERIFIED, ())
    assert found.engine == "cells+fake"
    assert found.warnings == ("fake reads 4 of 4 lines alike.",)


def test_where_the_second_reader_differs_the_line_is_in_doubt() -> None:
    found = read_picture(forged(page(TEXT)), ocr=FakeEngine(LINES))
    assert found.text == TEXT.replace("Bring", "Tring")
    assert (found.trust, found.engine, found.doubt) == (Trust.APPROXIMATE, "nearest+fake", (3,))


def test_without_a_second_reader_a_damaged_page_is_one_readers_word() -> None:
    found = read_picture(forged(page(TEXT)))
    assert (found.trust, found.doubt) == (Trust.APPROXIMATE, (1, 2, 3, 4))


def test_a_second_reader_that_fails_is_told_and_no_condition() -> None:
    class Broken(FakeEngine):
        def read_lines(self, images: object) -> list[OcrLine]:
            raise MissingLibrary("Gone", "The engine is gone.", "Install it.")

    found = read_picture(forged(page(TEXT)), ocr=Broken([]))
    assert found.trust is Trust.APPROXIMATE
    assert found.warnings == ("Not verified by a second reader: The engine is gone.",)


def test_a_sound_page_that_is_another_than_the_index_knows_is_not_exact() -> None:
    for known in ({"page_id": "pg_zzzzzzzzzzzz"}, {"sha256": "0" * 64}):
        found = read_picture(page(TEXT), **known)
        assert (found.trust, found.doubt) == (Trust.APPROXIMATE, (1, 2, 3, 4))


def test_a_picture_that_is_not_ours_is_read_whole() -> None:
    engine = FakeEngine(["Dear Ann,", "the key is 0f3a9c77e1"])
    found = read_picture(photo(), ocr=engine)
    assert (found.text, found.trust, found.engine) == ("Dear Ann,\nthe key is 0f3a9c77e1", Trust.APPROXIMATE, "fake")
    assert found.doubt == (2,)
    assert len(engine.pictures) == 1


def test_a_photograph_larger_than_any_page_is_still_read() -> None:
    file = io.BytesIO()
    Image.new("L", (8_000, 6_000), 200).save(file, "JPEG")
    assert read_picture(file.getvalue(), ocr=FakeEngine(["Dear Ann,"])).text == "Dear Ann,"


def test_ocr_of_our_own_page_is_never_exact_even_where_it_is_right() -> None:
    found = read_picture(page(TEXT), engine="rapidocr", ocr=FakeEngine(LINES))
    assert (found.text, found.trust, found.engine) == (TEXT, Trust.APPROXIMATE, "fake")


def test_with_no_engine_the_one_command_is_named() -> None:
    with pytest.raises(NotAPage) as raised:
        read_picture(photo())
    assert "palimpsest-shell[rapidocr]" in raised.value.hint


def test_one_reader_alone_may_be_named() -> None:
    scaled = redrawn(page(TEXT), lambda image: image.resize((456, 456), Image.Resampling.BICUBIC))
    with pytest.raises(NotAPage):
        read_picture(scaled, engine="cells")
    assert read_picture(scaled, engine="nearest").trust is Trust.EXACT
    assert READERS[3:] == ENGINES


def test_a_conversations_page_says_whose_words_stand_where() -> None:
    head = EntryHead("e_4kx7m2p0q9ab", "Ann", "user", datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC), 12)
    found = read_picture(page(TEXT, head))
    (one,) = attributed_texts(found)
    assert (one.entry, one.speaker, one.role, one.text) == ("e_4kx7m2p0q9ab", "Ann", "user", TEXT)
    assert one.time == head.time
    assert one.lines == (one.line, one.line + 3)


def test_a_files_page_names_nobody() -> None:
    assert attributed_texts(read_picture(page("── Ann · user · 2026-03-14T09:26:53Z · e_4kx7m2p0q9ab ──\nhello"))) == ()
