"""What is given to a model on a question: within the budget, cited, counted; pages for those that see."""

import random
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as Pillow

from memory.knowledge import ocr
from memory.knowledge.ingest.report import AddOptions
from memory.knowledge.knowledge import Knowledge
from memory.knowledge.readers.document import OcrReader
from memory.knowledge.retrieve.query import topic
from memory.memory import Memory
from memory.pages.read.exact import read_exact
from memory.search import Query
from models.tokens import estimate
from tests.fakes import FakeClock
from tests.memory.knowledge import files

LONG = "\n".join(
    f"The harbour of Lisbon charges ship number {n} a fee, and the pilot comes at dawn." for n in range(80)
)


def prose(seed: int, characters: int) -> str:
    """Sentences about a harbour, different for each seed."""
    pick = random.Random(seed)
    words = [f"{first}{last}" for first in ("bri", "ka", "mo", "stel", "vur") for last in ("den", "lin", "tor", "wick")]
    text = ""
    while len(text) < characters:
        text += f"The harbour of Lisbon has {' '.join(pick.choices(words, k=9))}. "
    return text[:characters]


def nominal(width: int, height: int) -> int:
    return -(-width * height // 4096)


def test_a_text_model_is_given_passages_with_their_places(knowledge: Knowledge, notes: Path) -> None:
    knowledge.add([notes])
    found = knowledge.get_context_for_query("What did I learn about transformers?", 1000)
    assert [one.known.name for one in found.passages] == ["notes/transformers.md"]
    assert "weigh tokens by attention" in found.passages[0].text
    assert found.passages[0].citation.place == "Attention"
    assert found.passages[0].image is None
    assert not found.out_of_view


def test_each_that_is_brought_was_used_once_more_and_others_were_not(knowledge: Knowledge, notes: Path) -> None:
    knowledge.add([notes])
    for _ in range(3):
        knowledge.get_context_for_query("transformers", 1000)
    uses = {one.known.name: one.known.accesses for one in knowledge.memories(400)}
    assert uses == {"notes/bread.txt": 0, "notes/contracts/lease.txt": 0, "notes/transformers.md": 3}


@pytest.mark.parametrize("budget", [0, 30, 100, 300, 700])
def test_no_more_than_the_budget_is_given(knowledge: Knowledge, notes: Path, budget: int) -> None:
    for n in range(12):
        (notes / f"harbour{n}.txt").write_text(LONG.replace("dawn", f"dawn in year {n} of the book"))
    knowledge.add([notes])
    found = knowledge.get_context_for_query("harbour fee of Lisbon", budget)
    assert found.tokens <= budget
    assert sum(estimate(one.text) for one in found.passages) <= budget
    assert bool(found.passages) == (budget >= 100)


def test_importance_and_age_decide_between_equals(knowledge: Knowledge, notes: Path, clock: FakeClock) -> None:
    (notes / "old.txt").write_text("The boiler is serviced by Ann in spring, said the first letter.\n")
    knowledge.add([notes / "old.txt"])
    clock.advance(60 * 86_400)
    (notes / "new.txt").write_text("The boiler is serviced by Ann in spring, wrote another person.\n")
    knowledge.add([notes / "new.txt"])
    first = knowledge.get_context_for_query("who services the boiler", 1000).passages[0]
    assert first.known.name == "new.txt"
    knowledge.set_importance(["old.txt"], 10)
    knowledge.set_importance(["new.txt"], 0)
    first = knowledge.get_context_for_query("who services the boiler", 1000).passages[0]
    assert first.known.name == "old.txt"


def test_a_model_that_sees_is_given_the_page_itself_with_its_exact_words(knowledge: Knowledge, tmp_path: Path) -> None:
    (tmp_path / "harbour.txt").write_text(LONG)
    knowledge.add([tmp_path / "harbour.txt"], AddOptions(mode="base"))
    found = knowledge.get_context_for_query("harbour of Lisbon", 4000, cost=nominal)
    (page,) = [one for one in found.passages if one.image]
    assert page.image is not None
    assert (page.image.width, page.image.height) == (1024, 1024)
    assert read_exact(page.image.data).text in LONG  # to the letter, by its pixels
    assert "Exact words on it:" in page.text
    assert "Lisbon" in page.text
    assert page.vision_tokens == nominal(1024, 1024)
    assert page.tokens > page.vision_tokens


def test_a_page_that_costs_more_than_its_text_stays_text(knowledge: Knowledge, notes: Path) -> None:
    knowledge.add([notes])
    found = knowledge.get_context_for_query("transformers attention", 4000, cost=nominal)
    assert [one.image for one in found.passages] == [None]


def test_pages_keep_to_the_vision_budget_and_the_rest_is_passages(knowledge: Knowledge, tmp_path: Path) -> None:
    for n in range(4):
        (tmp_path / f"harbour{n}.txt").write_text(prose(n, 6000))
    knowledge.add([tmp_path / f"harbour{n}.txt" for n in range(4)])
    found = knowledge.get_context_for_query("harbour of Lisbon", 4000, cost=nominal, max_vision_tokens=400)
    seen = [one for one in found.passages if one.image]
    assert len(seen) == 1
    assert sum(one.vision_tokens for one in seen) <= 400
    assert len(found.passages) > 1


def test_a_much_used_page_is_shown_smaller_when_the_view_is_full(
    knowledge: Knowledge, memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "harbour.txt").write_text(LONG)
    knowledge.add([tmp_path / "harbour.txt"])
    known = knowledge.find(["harbour.txt"])[0]
    conversation = memory.cold.conversation_at(known.conversation).id
    for _ in range(11):
        knowledge.used([conversation])
    (one,) = knowledge.memories(128)
    assert (one.view_state.state, one.view_state.mode) == ("in view", "small")
    found = knowledge.get_context_for_query("harbour of Lisbon", 4000, cost=nominal, max_vision_tokens=250)
    shown = next(one.image for one in found.passages if one.image)
    assert max(shown.width, shown.height) <= 640
    assert memory.vault.check() == []  # the archive's own page is as it was


def test_a_picture_is_shown_as_it_is(knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ocr, "installed_ocr_reader", lambda *_: OcrReader("eyes", lambda _image: "Login failed: error 4711")
    )
    shot = files.picture(tmp_path / "shot.png", "Login failed")
    knowledge.add([shot])
    found = knowledge.get_context_for_query("login error", 4000, cost=nominal)
    assert found.passages[0].image is not None
    assert found.passages[0].image.data == shot.read_bytes()


def test_a_photograph_is_scaled_to_its_mode(knowledge: Knowledge, tmp_path: Path) -> None:
    Pillow.new("RGB", (3000, 2000), "navy").save(tmp_path / "lisbon-harbour.jpg")
    knowledge.add([tmp_path / "lisbon-harbour.jpg"])
    found = knowledge.get_context_for_query("lisbon harbour", 4000, cost=nominal)
    image = found.passages[0].image
    assert image is not None
    with Pillow.open(BytesIO(image.data)) as opened:
        assert opened.size == (1280, 853)


def test_what_is_out_of_view_is_asked_only_where_nothing_in_view_knows(
    knowledge: Knowledge, notes: Path, clock: FakeClock
) -> None:
    (notes / "old.txt").write_text("The boiler was made in Porto.\n")
    knowledge.add([notes / "old.txt"])
    knowledge.set_importance(["old.txt"], 0)
    clock.advance(400 * 86_400)
    knowledge.add([notes])
    where = {one.known.name: one.view_state.state for one in knowledge.memories(100)}
    assert where["notes/old.txt"] == "out of view"
    found = knowledge.get_context_for_query("where was the boiler made", 1000, max_vision_tokens=100)
    assert found.out_of_view
    assert [one.known.name for one in found.passages] == ["notes/old.txt"]
    (notes / "new.txt").write_text("The boiler was replaced by one made in Braga.\n")
    knowledge.add([notes])
    found = knowledge.get_context_for_query("where was the boiler made", 1000, max_vision_tokens=100)
    assert [one.known.name for one in found.passages] == ["notes/new.txt"]


def test_of_twins_one_speaks_for_both_and_neither_text_is_lost(
    knowledge: Knowledge, memory: Memory, notes: Path
) -> None:
    (notes / "a.txt").write_text(LONG)
    (notes / "b.txt").write_text(LONG + "\nAnd one line more.")
    knowledge.add([notes])
    states = {one.known.name: one.view_state.state for one in knowledge.memories(300)}
    assert sorted((states["notes/a.txt"], states["notes/b.txt"])) == ["in view", "merged"]
    found = knowledge.get_context_for_query("harbour of Lisbon", 4000, max_vision_tokens=300)
    assert len({one.known.name for one in found.passages} & {"notes/a.txt", "notes/b.txt"}) == 1
    for name in ("a.txt", "b.txt"):
        assert "pilot comes at dawn" in knowledge.text(knowledge.find([name])[0]).text
    assert memory.search.query(Query(text="one line more")).found


def test_nothing_is_brought_where_nothing_is_relevant(knowledge: Knowledge, notes: Path) -> None:
    assert knowledge.get_context_for_query("transformers", 1000).passages == ()
    knowledge.add([notes])
    assert knowledge.get_context_for_query("volcanoes of Iceland", 1000).passages == ()


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What did I learn about transformers in my notes?", "What did I about transformers in my"),
        ("boiler", "boiler"),
    ],
)
def test_a_question_is_about_what_it_names(question: str, about: str) -> None:
    assert topic(question) == about


def test_the_figures(knowledge: Knowledge, notes: Path) -> None:
    empty = knowledge.stats(400)
    assert (empty.memories, empty.tokens, empty.utilisation, empty.average_importance) == (0, 0, 0.0, 0.0)
    knowledge.add([notes])
    knowledge.set_importance(["bread.txt"], 8)
    found = knowledge.stats(400)
    assert (found.memories, found.in_view, found.tokens, found.utilisation) == (3, 3, 192, 48.0)
    assert found.average_given == 6.0
    assert found.average_importance == pytest.approx(6.0)  # 0.5·6 + 3 for files of today, unused
