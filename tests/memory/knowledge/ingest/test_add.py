"""Adding files and folders: what is kept, passed over, changed, removed, and told."""

import os
from pathlib import Path

import pytest

from foundation.trust import Trust
from memory.errors import NotFound, StoreFull
from memory.knowledge import ocr
from memory.knowledge.ingest.report import AddOptions, AddProgress, AddReport, FileMessage
from memory.knowledge.knowledge import Knowledge
from memory.knowledge.readers.document import OcrReader
from memory.memory import Memory
from memory.search import Query
from memory.settings import KnowledgeSettings
from models.errors import UnreadableImage
from tests.fakes import FakeClock
from tests.memory.knowledge import files

INSTALLED = ocr.installed_ocr_reader  # before any test puts another in its place


def names(told: list[FileMessage]) -> list[str]:
    return [one.name for one in told]


def test_a_folder_is_added_with_all_below_it(knowledge: Knowledge, notes: Path) -> None:
    seen = list[AddProgress]()
    report = knowledge.add([notes], on_progress=seen.append)
    assert names(report.added) == ["notes/bread.txt", "notes/contracts/lease.txt", "notes/transformers.md"]
    assert (report.bad, report.skipped, report.unchanged) == ([], [], 0)
    assert [(one.done, one.total) for one in seen] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    categories = {one.known.name: one.known.category for one in knowledge.memories(400)}
    assert categories["notes/contracts/lease.txt"] == "contracts"
    assert categories["notes/transformers.md"] == "markdown"


def test_each_text_comes_back_to_the_byte_with_its_place(knowledge: Knowledge, memory: Memory, notes: Path) -> None:
    knowledge.add([notes])
    (known,) = knowledge.find(["transformers.md"])
    passage = knowledge.text(known)
    assert passage.text.encode() == (notes / "transformers.md").read_bytes()
    assert passage.trust is Trust.EXACT
    (hit,) = memory.search.query(Query(text="quadratic length", kinds=("knowledge",))).hits
    assert (hit.citation.title, hit.citation.place) == ("notes/transformers.md", "Cost")
    assert hit.citation.ref.startswith("pg_")


def test_a_passage_far_into_a_pdf_is_cited_by_its_page(knowledge: Knowledge, memory: Memory, tmp_path: Path) -> None:
    filler = "\n".join("Plain words of no matter here at all." for _ in range(40))
    paper = files.pdf(tmp_path / "paper.pdf", [filler] * 7 + ["The quokka eats ninety leaves."] + [filler] * 2)
    report = knowledge.add([paper])
    assert report.pages > 1
    (hit, *_) = memory.search.query(Query(text="quokka leaves", kinds=("knowledge",))).hits
    assert hit.citation.place == "page 8"
    assert hit.snippet == "The quokka eats ninety leaves."  # nothing of another page is cited as of this one
    (known,) = knowledge.find(["paper.pdf"])
    text = knowledge.text(known).text
    assert text.index(hit.snippet) == next(place.start for place in knowledge.places(known) if place.label == "page 8")


def test_a_passage_that_needs_two_pages_is_cited_by_both(knowledge: Knowledge, memory: Memory, tmp_path: Path) -> None:
    knowledge.add(
        [files.pdf(tmp_path / "two.pdf", ["Nothing yet.", "The quokka sleeps.", "It eats ninety leaves.", "."])]
    )
    (hit,) = memory.search.query(Query(text="quokka leaves", kinds=("knowledge",))).hits
    assert hit.citation.place == "pages 2–3"
    assert hit.snippet == "The quokka sleeps.\n\nIt eats ninety leaves."


def test_what_is_unchanged_is_passed_over_by_its_hash_too(
    knowledge: Knowledge, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge.add([notes])
    os.utime(notes / "bread.txt", ns=(1, 1))
    assert knowledge.add([notes]).unchanged == 3

    def never(*_args: object) -> bytes:
        pytest.fail("an unchanged file was read again")

    monkeypatch.setattr(Path, "read_bytes", never)
    assert knowledge.add([notes]).unchanged == 3


def test_a_changed_file_is_replaced_and_its_old_text_is_kept(
    knowledge: Knowledge, memory: Memory, notes: Path, clock: FakeClock
) -> None:
    knowledge.add([notes])
    knowledge.set_importance(["transformers.md"], 9)
    knowledge.used([memory.cold.conversation_at(knowledge.find(["transformers.md"])[0].conversation).id])
    clock.advance(86_400)
    (notes / "transformers.md").write_text("# Attention\n\nLinear attention is cheaper by far.\n", "utf-8")
    report = knowledge.add([notes])
    assert (names(report.changed), report.unchanged) == (["notes/transformers.md"], 2)
    (known,) = knowledge.find(["transformers.md"])
    assert (known.importance, known.accesses) == (9, 1)
    assert "Linear" in knowledge.text(known).text
    _, old = knowledge.versions(known)
    assert "262,144" in knowledge.text(old).text
    assert memory.search.query(Query(text="quadratic length", kinds=("knowledge",))).hits == ()
    (hit,) = memory.search.query(Query(text="quadratic length")).hits
    assert hit.citation.place == "until 2026-03-15, Cost"


def test_a_file_that_is_gone_is_noticed_and_its_text_is_kept(knowledge: Knowledge, notes: Path) -> None:
    knowledge.add([notes])
    (notes / "bread.txt").unlink()
    report = knowledge.add([notes])
    assert names(report.removed) == ["notes/bread.txt"]
    (known,) = knowledge.find(["bread.txt"])
    assert known.missing is not None
    assert "sourdough" in knowledge.text(known).text
    assert knowledge.add([notes]).removed == []  # told once
    (notes / "bread.txt").write_text("Feed the sourdough starter at nine.\n", "utf-8")
    knowledge.notice_removed()
    assert knowledge.find(["bread.txt"])[0].missing is None


def test_a_file_named_after_it_is_gone_is_no_failure(knowledge: Knowledge, notes: Path) -> None:
    knowledge.add([notes / "bread.txt"])
    (notes / "bread.txt").unlink()
    report = knowledge.add([notes / "bread.txt", notes / "never.txt"])
    assert names(report.removed) == ["bread.txt"]
    assert names(report.bad) == ["never.txt"]


def test_a_drive_that_is_away_removes_nothing(knowledge: Knowledge, notes: Path) -> None:
    knowledge.add([notes])
    notes.rename(notes.with_name("unplugged"))
    assert knowledge.notice_removed() == []


def test_a_store_that_is_full_ends_the_run(knowledge: Knowledge, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> object:
        raise StoreFull("No space", "The disk is full.")

    monkeypatch.setattr("memory.knowledge.ingest.store.sketch", full)
    with pytest.raises(StoreFull):
        knowledge.add([notes])


def test_a_picture_is_kept_to_the_byte_and_what_eyes_saw_is_approximate(
    knowledge: Knowledge, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        ocr, "installed_ocr_reader", lambda *_: OcrReader("eyes", lambda _image: "Login failed: error 4711")
    )
    shot = files.picture(tmp_path / "shot.png", "Login failed")
    knowledge.add([shot])
    (known,) = knowledge.find(["shot.png"])
    (kept,) = knowledge.pictures(known)
    assert kept.read_bytes() == shot.read_bytes()
    (hit,) = memory.search.query(Query(text="login error 4711")).hits
    assert hit.trust is Trust.APPROXIMATE
    assert [view.picture for view in knowledge.views(known)] == [kept.name]


def test_a_picture_is_read_again_once_there_is_an_engine(
    knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shot = files.picture(tmp_path / "shot.png", "Login failed")
    knowledge.add([shot])
    eyes = OcrReader("eyes", lambda _image: "Login failed")
    assert knowledge.add([shot], ocr_reader=lambda: eyes).unchanged == 1
    again = AddOptions(again=True)
    assert names(knowledge.add([shot], again, ocr_reader=lambda: eyes).changed) == ["shot.png"]
    assert "Login failed" in knowledge.text(knowledge.find(["shot.png"])[0]).text
    assert knowledge.add([shot], again, ocr_reader=lambda: eyes).unchanged == 1  # and nothing twice


def test_an_engine_that_fails_spoils_no_other_file(knowledge: Knowledge, notes: Path) -> None:
    files.picture(notes / "shot.png", "Login failed")

    class BlurredEngine:
        name = "blurred"

        def read(self, _image: bytes) -> None:
            raise UnreadableImage("No", "it is too blurred", "Take it again.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ocr, "installed_engine", lambda *_: BlurredEngine())
        report = knowledge.add([notes], ocr_reader=INSTALLED)
    assert [(one.name, one.why) for one in report.bad] == [
        ("notes/shot.png", "blurred could not read it: it is too blurred")
    ]
    assert len(report.added) == 3


def test_secrets_are_counted_and_taken_out_where_asked(knowledge: Knowledge, notes: Path, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    page = notes / "keys.md"
    page.write_text(f"# Keys\n\nThe token is {token}.\n\n# After\n\nMore words.\n")
    assert knowledge.add([page]).secrets == 1
    assert token in knowledge.text(knowledge.find(["keys.md"])[0]).text
    page.write_text(f"# Keys\n\nThe token is {token} still.\n\n# After\n\nMore words.\n")
    report = knowledge.add([page], AddOptions(redact=True))
    (known,) = knowledge.find(["keys.md"])
    text = knowledge.text(known).text
    assert (report.secrets, report.redacted) == (1, True)
    assert token not in text
    after = next(place for place in knowledge.places(known) if place.label == "After")
    assert text[after.start :].startswith("# After")


def test_redacting_keeps_the_places_of_a_pdf(knowledge: Knowledge, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    paper = files.pdf(tmp_path / "p.pdf", [f"first {token}", "second page"])
    knowledge.add([paper], AddOptions(redact=True))
    (known,) = knowledge.find(["p.pdf"])
    text = knowledge.text(known).text
    second = next(place for place in knowledge.places(known) if place.label == "page 2")
    assert text[second.start :] == "second page"
    assert token not in text


def test_importance_holds_for_what_is_added_later(knowledge: Knowledge, notes: Path) -> None:
    knowledge.set_importance(["contracts/*.txt"], 9)
    knowledge.add([notes])
    given = {one.known.name: one.known.importance for one in knowledge.memories(400)}
    assert given == {"notes/bread.txt": 5, "notes/contracts/lease.txt": 9, "notes/transformers.md": 5}
    meant = knowledge.set_importance(["*.md"], 2)
    assert [known.name for known in meant] == ["notes/transformers.md"]
    knowledge.set_importance(["notes/*"], 7)  # what is said last counts
    assert {one.known.importance for one in knowledge.memories(400)} == {7}


def test_removing_deletes_every_version_with_its_pages(
    knowledge: Knowledge, memory: Memory, notes: Path, tmp_path: Path
) -> None:
    shot = files.picture(notes / "shot.png", "words")
    knowledge.add([notes])
    (notes / "bread.txt").write_text("Another bread.\n")
    knowledge.add([notes])
    knowledge.remove(knowledge.find(["bread.txt", "shot.png"]))
    with pytest.raises(NotFound):
        knowledge.find(["bread.txt"])
    assert not memory.search.query(Query(text="sourdough starter bread")).found
    assert list(memory.workspace.knowledge.iterdir()) == []
    assert shot.exists()
    assert memory.vault.check() == []
    assert len(knowledge.memories(400)) == 2
    assert knowledge.add([notes]).unchanged == 2


def test_pictures_that_a_cut_deletion_left_go_with_the_next_add(
    knowledge: Knowledge, memory: Memory, notes: Path
) -> None:
    files.picture(notes / "shot.png", "words")
    knowledge.add([notes])
    folder = memory.workspace.knowledge
    (kept,) = folder.iterdir()
    left, young = folder / f"{'0' * 64}.png", folder / f"{'1' * 64}.png"
    for path in (left, young):
        path.write_bytes(b"left behind")
    for path in (left, kept):
        os.utime(path, (1, 1))
    knowledge.add([notes])
    assert sorted(folder.iterdir()) == sorted([young, kept])  # another process may be adding the young one


def test_a_retention_deletes_only_what_it_has_outlived_and_says_so(
    knowledge: Knowledge, notes: Path, clock: FakeClock
) -> None:
    settings = KnowledgeSettings(retention_days=30)
    knowledge.add([notes], settings=settings)
    (notes / "bread.txt").unlink()
    (notes / "transformers.md").write_text("# Attention\n\nAnew.\n")
    assert knowledge.add([notes], settings=settings).deleted == []
    clock.advance(31 * 86_400)
    kept_for_ever = knowledge.add([notes])
    assert kept_for_ever.deleted == []
    report = knowledge.add([notes], settings=settings)
    limit = "for more than 30 days (knowledge.retention_days)"
    assert {one.why for one in report.deleted} == {f"replaced {limit}", f"gone from disk {limit}"}
    assert [one.known.name for one in knowledge.memories(400)] == ["notes/contracts/lease.txt", "notes/transformers.md"]


def test_a_run_that_is_stopped_goes_on_where_it_was(knowledge: Knowledge, notes: Path) -> None:
    report = AddReport()

    def stop(progress: AddProgress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        knowledge.add([notes], report=report, on_progress=stop)
    assert len(report.added) == 2
    again = knowledge.add([notes])
    assert (len(again.added), again.unchanged) == (1, 2)
