"""Files from strangers that are added: each ends in bounded time and memory, and the rest of the folder is added."""

import io
import json
import sys
from pathlib import Path

import pytest
from PIL import Image

from memory.knowledge.errors import UnreadableDocument
from memory.knowledge.readers import isolated
from memory.knowledge.readers.frames import write_bytes
from memory.knowledge.readers.isolated import ReaderProcess
from memory.knowledge.readers.registry import read_file
from tests.hostile.file_bombs import HTML, attributes, bzip2_docx, html_bombs, lying_docx, pdf_bombs
from tests.hostile.measured import Measured, initialised, measured, palimpsest
from tests.memory.knowledge import files

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform == "win32", reason="memory is measured with wait4"),
]
MOST_MB = 300


@pytest.fixture
def room(tmp_path: Path) -> Path:
    return initialised(tmp_path / "room")


def test_one_process_reads_file_after_file(tmp_path: Path) -> None:
    page = b"<h1>Bread</h1>" + b"<p>Feed the starter at nine.</p>" * 100
    with ReaderProcess() as apart:
        assert "starter" in read_file(page, "a.html", None, apart).text
        first = apart.number
        for name in ("damaged.pdf", "damaged.docx"):
            with pytest.raises(UnreadableDocument, match="damaged"):
                read_file(b"%PDF-1.7 and no more", name, None, apart)
        assert "starter" in read_file(page, "b.html", None, apart).text
        assert "tenant" in read_file(files.docx(tmp_path / "lease.docx").read_bytes(), "c.docx", None, apart).text
        assert apart.number == first


def test_html_that_takes_for_ever_is_given_up_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with ReaderProcess() as apart:
        with monkeypatch.context() as patched, pytest.raises(UnreadableDocument, match="it takes more than"):
            patched.setattr(isolated, "PATIENCE", 0.5)
            read_file(b"<a " * 100_000, "bomb.html", None, apart)
        good = b"<h1>Bread</h1>" + b"<p>Feed the starter at nine.</p>" * 100
        assert "starter" in read_file(good, "bread.html", None, apart).text


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux bounds a process's memory")
def test_html_of_many_attributes_asks_for_too_much_or_ends(tmp_path: Path, room: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    attributes(folder / "attributes.html")
    (folder / "notes.txt").write_text("The heron stands by the water.")
    added = palimpsest(room, "knowledge", "add", str(folder), "--json", seconds=110)
    told = json.loads(added.out)
    assert [one["name"] for one in told["added"]][-1:] == ["files/notes.txt"]
    assert added.peak_mb < MOST_MB


def test_a_document_whose_zip_lies_is_refused_in_little_memory(tmp_path: Path, room: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    lying_docx(folder / "lying.docx")
    bzip2_docx(folder / "bzip2.docx")
    (folder / "notes.txt").write_text("The heron stands by the water.")
    added = palimpsest(room, "knowledge", "add", str(folder), "--json")
    told = json.loads(added.out)
    assert {one["name"] for one in told["bad"]} == {"files/lying.docx", "files/bzip2.docx"}
    assert [one["name"] for one in told["added"]] == ["files/notes.txt"]
    assert added.peak_mb < MOST_MB
    for name in ("lying.docx", "bzip2.docx"):
        apart = read_apart("docx", (folder / name).read_bytes(), tmp_path)
        assert apart.peak_mb < 100, name  # each unpacks to more


def read_apart(kind: str, raw: bytes, folder: Path) -> Measured:
    """The process that reads files, with one file."""
    given = io.BytesIO()
    write_bytes(given, kind.encode())
    write_bytes(given, raw)
    frames = folder / "frames.bin"
    frames.write_bytes(given.getvalue())
    return measured([sys.executable, "-P", "-m", "memory.knowledge.readers.reader_process"], {}, stdin=frames)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux bounds a process's memory")
def test_a_pdf_bomb_ends_its_process_in_little_memory(tmp_path: Path) -> None:
    for name, raw in pdf_bombs().items():
        ended = read_apart("pdf", raw, tmp_path)
        assert ended.peak_mb < MOST_MB, (name, ended.peak_mb)


def test_a_scan_of_35_million_pixels_is_read_all_the_same(tmp_path: Path) -> None:
    noise = Image.effect_noise((496, 702), 60).convert("RGB")
    scan = noise.resize((4960, 7016), Image.Resampling.NEAREST)  # A4 at 600 dots an inch
    file = io.BytesIO()
    scan.save(file, "PDF", resolution=600)
    with ReaderProcess() as apart:
        document = read_file(file.getvalue(), "scan.pdf", None, apart)
    assert max(document.pictures[0].width, document.pictures[0].height) > 2000


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_each_pattern_of_html_ends(tmp_path: Path, room: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    html_bombs(folder)
    (folder / "notes.txt").write_text("The heron stands by the water.")
    added = palimpsest(room, "knowledge", "add", str(folder), "--json", seconds=800)
    told = json.loads(added.out)
    print(
        f"{len(HTML)} patterns of HTML: {len(told['bad'])} given up, {len(told['added'])} added, "
        f"{added.seconds:.0f} s, {added.peak_mb:.0f} MB"
    )
    assert "files/notes.txt" in {one["name"] for one in told["added"]}
    assert len(told["bad"]) + len(told["added"]) + len(told["skipped"]) == len(HTML) + 1
    assert added.peak_mb < MOST_MB
