"""`--redact` takes a document as a whole, wherever it is cut into places; and takes older versions with it."""

from pathlib import Path

import docx
import pptx
import pytest

from memory.cold.sql import fetch
from memory.knowledge.ingest.report import AddOptions
from memory.knowledge.knowledge import Knowledge
from memory.memory import Memory
from tests.memory.knowledge import files

REDACT = AddOptions(redact=True)
PEM = [
    "-----BEGIN RSA PRIVATE KEY-----",
    "MIIEpAIBAAKCAQEA7ZORKZORKq2w3e4r5t6y7u8i9o0p",
    "-----END RSA PRIVATE KEY-----",
]


def stored_words(memory: Memory, knowledge: Knowledge) -> str:
    """All that is kept of the files: texts, labels of places, titles."""
    rows = memory.cold.read(
        lambda db: fetch(db, "SELECT place FROM knowledge_places UNION ALL SELECT title FROM conversations")
    )
    texts = [
        knowledge.text(version).text for one in knowledge.memories(400) for version in knowledge.versions(one.known)
    ]
    return "\n".join([*texts, *(str(row[0]) for row in rows)])


def word(path: Path, blocks: list[tuple[str, str]]) -> Path:
    made = docx.Document()
    for style, text in blocks:
        made.add_paragraph(text, style)
    made.save(str(path))
    return path


def test_a_private_span_over_a_heading_of_a_word_document_goes(
    knowledge: Knowledge, memory: Memory, tmp_path: Path
) -> None:
    blocks = [
        ("Heading 1", "Plan"),
        ("Normal", "open <private>zorkone"),
        ("Heading 1", "zorktwo heading"),
        ("Normal", "zorkthree</private> open again"),
        ("Heading 1", "After"),
        ("Normal", "the end"),
    ]
    knowledge.add([word(tmp_path / "a.docx", blocks)], REDACT)
    assert "zork" not in stored_words(memory, knowledge)
    (known,) = knowledge.find(["a.docx"])
    text = knowledge.text(known).text
    after = next(place for place in knowledge.places(known) if place.label == "After")
    assert text[after.start :] == "# After\nthe end"
    assert "open again" in text


def test_a_key_over_pages_of_a_pdf_goes(knowledge: Knowledge, memory: Memory, tmp_path: Path) -> None:
    knowledge.add([files.pdf(tmp_path / "k.pdf", [f"key {PEM[0]}", PEM[1], PEM[2] + " end", "last"])], REDACT)
    assert "ZORK" not in stored_words(memory, knowledge)
    (known,) = knowledge.find(["k.pdf"])
    last = next(place for place in knowledge.places(known) if place.label == "page 4")
    assert knowledge.text(known).text[last.start :] == "last"


def test_a_private_span_over_slides_goes(knowledge: Knowledge, memory: Memory, tmp_path: Path) -> None:
    made = pptx.Presentation()
    for title, body in (("One", "open <private>zorkone"), ("zorktwo title", "zorkthree</private> open again")):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
    made.save(str(tmp_path / "s.pptx"))
    knowledge.add([tmp_path / "s.pptx"], REDACT)
    assert "zork" not in stored_words(memory, knowledge)
    (known,) = knowledge.find(["s.pptx"])
    assert [place.label for place in knowledge.places(known)][-1] == "slide 2"


@pytest.mark.parametrize(
    "page",
    [
        "<p>a <private>zork</private> b</p>",
        "<h1>a</h1><private><p>zork</p><h2>zork heading</h2><p>zork</p></private><p>b</p>",
        "<p>word<private class=x>zork</private></p>",
        "<p>a &lt;private&gt;zork&lt;/private&gt; b</p>",
        "<pre>" + "\n".join(PEM).replace("MIIE", "zorkMIIE") + "</pre>",
    ],
)
def test_private_is_an_element_of_html(page: str, knowledge: Knowledge, memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "p.html").write_text(f"<html><body>{page}<p>the end</p></body></html>", "utf-8")
    knowledge.add([tmp_path / "p.html"], REDACT)
    assert "zork" not in stored_words(memory, knowledge).lower()
    assert "the end" in stored_words(memory, knowledge)


def test_redacting_what_was_added_before_deletes_the_older_versions(
    knowledge: Knowledge, memory: Memory, tmp_path: Path
) -> None:
    page = tmp_path / "n.txt"
    page.write_text("harmless first version\n")
    knowledge.add([page])
    page.write_text("pin <private>zork</private> and more\n")
    knowledge.add([page])
    report = knowledge.add([page], REDACT)
    assert [len(report.changed), len(report.purged)] == [1, 1]
    assert "zork" not in stored_words(memory, knowledge)
    (known,) = knowledge.find(["n.txt"])
    assert [knowledge.text(version).text for version in knowledge.versions(known)] == [
        "pin [private] and more\n",
        "harmless first version\n",
    ]
    again = knowledge.add([page], REDACT)
    assert (again.unchanged, again.changed, again.purged) == (1, [], [])
    assert knowledge.add([page]).unchanged == 1
    page.write_text(page.read_text())  # touched, and not changed
    assert knowledge.add([page]).unchanged == 1


def test_the_hash_of_a_redacted_file_tells_nothing_of_its_words(
    knowledge: Knowledge, memory: Memory, tmp_path: Path
) -> None:
    import hashlib

    page = tmp_path / "n.txt"
    page.write_text("pin <private>4711</private>\n")
    knowledge.add([page], REDACT)
    digest = hashlib.sha256(page.read_bytes())
    (known,) = knowledge.find(["n.txt"])
    assert known.sha256 != digest.hexdigest()
    memory.cold.empty_journal()
    assert digest.digest() not in memory.cold.database.read_bytes()
