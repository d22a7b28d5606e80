"""What each reader gives of a real file, and what it refuses."""

import codecs
import re
import tracemalloc
import zlib
from pathlib import Path

import pytest

from memory.knowledge.errors import UnreadableDocument, UnsupportedFile
from memory.knowledge.readers.document import Document, OcrReader
from memory.knowledge.readers.html import read_html
from memory.knowledge.readers.office import check_zip
from memory.knowledge.readers.registry import kind_of, read_file
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import mode_named
from memory.pages.render.page import page_sheets, render_page
from tests.memory.knowledge import files

SIGHT = OcrReader("eyes", lambda _image: "words that eyes saw")


def read(path: Path, sight: OcrReader | None = None) -> Document:
    return read_file(path.read_bytes(), path.name, sight)


def place_of(document: Document, words: str) -> str:
    at = document.text.index(words)
    return [place.label for place in document.places if place.start <= at][-1]


def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    document = read(files.pdf(tmp_path / "a.pdf", ["Attention is all you need.", "", "Figure 3 costs 41 units."]))
    assert document.kind == "pdf"
    assert place_of(document, "Attention") == "page 1"
    assert place_of(document, "41 units") == "page 3"
    assert document.pictures == ()


def test_a_scanned_page_is_kept_as_a_picture_and_read_where_an_engine_is(tmp_path: Path) -> None:
    scan = files.scanned(tmp_path / "scan.pdf", "Harbour fee 41")
    blind = read(scan)
    assert len(blind.pictures) == 1
    assert blind.pictures[0].data.startswith(b"\x89PNG")
    assert "no OCR engine is installed to read them" in blind.said[0]
    seeing = read(scan, SIGHT)
    assert seeing.text == "words that eyes saw"
    assert (seeing.places[0].label, seeing.places[0].read_by) == ("page 1", "eyes")


def test_an_encrypted_pdf_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnreadableDocument, match="encrypted") as told:
        read(files.pdf(tmp_path / "locked.pdf", ["secret"], encrypted=True))
    assert "without a password" in told.value.hint


@pytest.mark.parametrize("raw", [b"%PDF-1.4\nnothing more", b"%PDF-", b"\x00" * 500])
def test_a_damaged_pdf_is_a_sentence(raw: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="damaged"):
        read_file(raw, "broken.pdf", None)


def test_a_word_document_keeps_headings_lists_and_tables_in_order(tmp_path: Path) -> None:
    document = read(files.docx(tmp_path / "lease.docx"))
    assert document.kind == "docx"
    assert "# Lease of the flat\nThe tenant pays on the third working day." in document.text
    assert "- Notice is ninety days" in document.text
    assert "deposit | 2,700 EUR\nAfter the table." in document.text
    assert place_of(document, "ninety") == "Termination"


def test_slides_keep_titles_tables_and_notes(tmp_path: Path) -> None:
    document = read(files.pptx(tmp_path / "review.pptx"))
    assert place_of(document, "12 percent") == "slide 1, Quarterly review"
    assert "Notes: Mention the Lisbon office." in document.text
    assert place_of(document, "harbour | 17") == "slide 2, Head count"
    assert document.text.count("Quarterly review") == 1


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    raw = files.bomb(tmp_path / "bomb.docx").read_bytes()
    assert len(raw) < 2**20
    tracemalloc.start()
    with pytest.raises(UnreadableDocument, match="would unpack to"):
        read_file(raw, "bomb.docx", None)
    assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    tracemalloc.stop()


def test_a_picture_within_a_document_may_not_be_a_bomb_either(tmp_path: Path) -> None:
    raw = files.bomb(tmp_path / "bomb.docx", part="word/media/a.bin", megabytes=8).read_bytes()
    with pytest.raises(UnreadableDocument, match="times its size"):
        check_zip(raw)


@pytest.mark.parametrize("name", ["a.docx", "a.pptx"])
def test_what_is_no_document_is_a_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableDocument, match="damaged"):
        read_file(b"PK\x03\x04 and no more", name, None)
    other = files.docx(tmp_path / "x.docx") if name == "a.pptx" else files.pptx(tmp_path / "x.pptx")
    with pytest.raises(UnreadableDocument, match="damaged"):
        read_file(other.read_bytes(), name, None)


def test_html_is_what_a_person_would_read() -> None:
    document = read_file(files.HTML.encode(), "bread.html", None)
    assert "never read" not in document.text
    assert "color" not in document.text
    assert "a comment" not in document.text
    assert "Feed the starter at nine." in document.text
    assert "- flour\n- water" in document.text
    assert "250\xa0°C | 20 min" in document.text
    assert "mix()\n  knead()" in document.text
    assert place_of(document, "250") == "Baking"


def test_html_is_read_in_the_encoding_that_it_names() -> None:
    page = "<meta charset='windows-1252'><p>Füße</p>"
    assert read_file(page.encode("cp1252"), "a.html", None).text == "Füße"
    for lying in ("<p>Füße</p>", "<meta charset='utf-8'><p>Füße</p>", "<meta charset='none-such'><p>Füße</p>"):
        found = read_file(lying.encode("cp1252"), "a.html", None)
        assert (found.text, found.encoding) == ("Füße", "Windows-1252")


def test_markdown_and_text_and_code_are_kept_to_the_byte() -> None:
    raw = "\ufeff# Élan\r\n\r\n```\n# no heading\n```\n## Über\ttabs \n".encode()
    document = read_file(raw, "a.md", None)
    assert document.text.encode() == raw
    assert [place.label for place in document.places] == ["Élan", "Über tabs"]
    code = b"def f():\r\n\treturn 1\n" * 30
    assert read_file(code, "a.py", None).text.encode() == code
    assert place_of(read_file(code, "a.py", None), "def f") == "line 1"
    assert read_file(code, "a.py", None).places[1].label == "line 21"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF32_LE, "utf-32-le")],
)
def test_a_byte_order_mark_says_the_encoding(mark: bytes, encoding: str) -> None:
    assert read_file(mark + "Grüße 你好".encode(encoding), "a.txt", None).text == "Grüße 你好"


def test_another_encoding_is_told_with_its_line() -> None:
    with pytest.raises(UnreadableDocument, match=re.escape("line 2, byte 5")):
        read_file(b"one\nf" + "совещание".encode("cp1251"), "a.txt", None)


WORDS = {
    "short": "变压器注意力机制笔记",
    "chinese": "会议定于三月十二日在上海举行，请各部门提前准备材料。\n预算为四十一万元，审批人是王芳。\n",
    "code": "# 配置文件\nport = 8080  # 服务器端口\nname = 'x'\n",
    "traditional": "會議定於三月十二日在臺北舉行，請各部門提前準備資料。\n預算為四十一萬元。\n",
    "japanese": "会議は三月十二日に東京で行われます。各部署は資料を準備してください。\n",
    "korean": "회의는 삼월 십이일 서울에서 열립니다. 각 부서는 자료를 준비하십시오.\n",
    "german": "Die Sitzung ist am 12. März in München; Grüße, Jürgen. „Füße“ – 5 €\n",
    "french": "La réunion aura lieu à Genève, le café est prêt. L’été – déjà là…\n",
    "russian": "Совещание состоится двенадцатого марта в Москве.\n",
}


@pytest.mark.parametrize(
    ("words", "codec", "name"),
    [
        ("short", "gbk", "GB18030"),
        ("chinese", "gb18030", "GB18030"),
        ("code", "gbk", "GB18030"),
        ("traditional", "big5", "Big5"),
        ("japanese", "cp932", "Shift-JIS"),
        ("japanese", "euc_jp", "EUC-JP"),
        ("korean", "cp949", "EUC-KR"),
        ("german", "cp1252", "Windows-1252"),
        ("french", "cp1252", "Windows-1252"),
        ("german", "utf-16-le", "UTF-16"),
        ("chinese", "utf-16-le", "UTF-16"),
        ("japanese", "utf-16-be", "UTF-16"),
    ],
)
def test_text_of_older_files_is_read_in_its_own_encoding(words: str, codec: str, name: str) -> None:
    found = read_file(WORDS[words].encode(codec), "a.txt", None)
    assert (found.text, found.encoding) == (WORDS[words], name)


@pytest.mark.parametrize("words", list(WORDS))
def test_utf_8_is_never_taken_for_another(words: str) -> None:
    found = read_file(WORDS[words].encode(), "a.txt", None)
    assert (found.text, found.encoding) == (WORDS[words], "")


@pytest.mark.parametrize(
    "raw",
    [
        "совещание состоится".encode("koi8_r"),
        "The совещание is set for noon in Москва.".encode("cp1251"),
        bytes(range(1, 256)),
        b"\xff\xfd\x80 a",
    ],
)
def test_what_is_plausible_in_no_encoding_is_not_guessed(raw: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="save it as UTF-8"):
        read_file(raw, "a.txt", None)


def test_binary_under_a_name_of_text_is_refused() -> None:
    with pytest.raises(UnreadableDocument, match="binary data"):
        read_file(b"\x7fELF\x00\x00\x01", "a.txt", None)


def test_a_file_is_known_by_what_it_begins_with_where_its_name_says_nothing() -> None:
    assert kind_of("README", b"plain words\n") == "text"
    assert kind_of("run", b"#!/bin/sh\n") == "code"
    assert kind_of("paper", b"%PDF-1.7") == "pdf"
    with pytest.raises(UnsupportedFile, match=r"save it as \.docx"):
        kind_of("old.doc", b"\xd0\xcf\x11\xe0")
    with pytest.raises(UnsupportedFile, match="no reader"):
        kind_of("a.bin", b"\x00\x01\x02")


def test_a_screenshot_is_kept_to_the_byte_and_its_words_are_read(tmp_path: Path) -> None:
    path = files.picture(tmp_path / "shot.png", "Login failed")
    document = read(path, SIGHT)
    assert document.pictures[0].data == path.read_bytes()
    assert "words that eyes saw" in document.text
    assert document.places[-1].read_by == "eyes"
    blind = read(path)
    assert blind.text == "shot.png (a picture of 900×300 pixels)"
    assert "no OCR engine is installed" in blind.said[0]


def test_a_page_of_ours_is_read_to_the_letter_and_no_engine_is_asked(tmp_path: Path) -> None:
    text = "The key is 0xdeadbeef; 你好.\n"
    sheet = next(iter(page_sheets([LayoutText(text)], mode_named("tiny"))))
    page = render_page(sheet, "pg_000000000000", 1)
    document = read_file(page.png, "renamed.png", OcrReader("eyes", lambda _image: pytest.fail("was asked")))
    assert document.text.endswith(text)
    assert document.places[-1].read_by == ""


def _giant() -> bytes:
    """The head of a PNG of 40,000 by 40,000 pixels."""
    head = b"IHDR" + (40_000).to_bytes(4, "big") * 2 + b"\x08\x00\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0d" + head + zlib.crc32(head).to_bytes(4, "big") + b"\x00" * 20


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"no picture", "a.png"),
        (_giant(), "a.png"),
        (b"PK\x03\x04 cut", "a.docx"),
        (b"", "a.pptx"),
    ],
)
def test_no_reason_speaks_of_our_insides(raw: bytes, name: str) -> None:
    with pytest.raises(UnreadableDocument) as told:
        read_file(raw, name, None)
    for word in ("object at", "Error", "lxml", "DOS", "limit of", "PDFium", "Exception", "0x"):
        assert word not in told.value.message


@pytest.mark.parametrize("name", ["a.docx", "a.pptx"])
def test_a_document_of_another_kind_is_told_in_plain_words(name: str, tmp_path: Path) -> None:
    other = files.docx(tmp_path / "x.docx") if name == "a.pptx" else files.pptx(tmp_path / "x.pptx")
    with pytest.raises(UnreadableDocument, match=r"^it is damaged, or no (Word document|presentation)$"):
        read_file(other.read_bytes(), name, None)


def test_a_picture_that_is_none_is_a_sentence(tmp_path: Path) -> None:
    whole = files.picture(tmp_path / "a.png", "cut").read_bytes()
    for raw in (b"no picture", whole[: len(whole) // 2]):
        with pytest.raises(UnreadableDocument, match="or of another type"):
            read_file(raw, "a.png", None)


def test_a_declaration_that_html_does_not_have_is_a_comment() -> None:
    assert read_html(b"<p>before</p><![CDE[x]]><p>after</p>").text == "before\nafter"
