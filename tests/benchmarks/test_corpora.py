"""Each corpus is read in its own format, from files made here by hand."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.corpora import Asked, Corpus, NotThis, read_corpus
from benchmarks.corpora.chitchat import chitchat


def written(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), "utf-8")
    return path


def questions(corpus: Corpus) -> list[Asked]:
    return [each for store in corpus.stores for each in store.questions]


SESSIONS = {
    "speaker_a": "Ann",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "I sold the boat."},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "At last!"},
    ],
    "session_2_date_time": "9:05 am on 1 June, 2023",
    "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "The money went into a kayak."}],
}


def locomo(*qa: dict[str, object]) -> list[dict[str, object]]:
    return [{"sample_id": "conv-1", "conversation": SESSIONS, "qa": list(qa)}]


def test_a_sample_of_locomo_is_a_store_of_sessions_with_times(tmp_path: Path) -> None:
    qa = {"question": "What did Ann sell?", "answer": "the boat", "evidence": ["D1:1"], "category": 4}
    corpus = read_corpus(written(tmp_path / "locomo.json", locomo(qa)))
    assert (corpus.name, corpus.stores[0].name) == ("LoCoMo", "conv-1")
    assert [turn.conversation for turn in corpus.stores[0].turns] == ["session 1", "session 1", "session 2"]
    assert corpus.stores[0].turns[0].time == "2023-05-08T13:56:00+00:00"
    assert questions(corpus) == [Asked(text="What did Ann sell?", category="single-hop", evidence=("D1:1",))]


@pytest.mark.parametrize(
    ("evidence", "read"),
    [
        (["D1:1; D2:1"], ("D1:1", "D2:1")),
        (["D:1:2"], ("D1:2",)),
        (["D1:1", "D9:9"], ("D1:1",)),
        (["D01:02"], ("D1:2",)),
    ],
)
def test_slips_in_locomos_evidence_are_mended_and_what_is_no_turn_left_out(
    tmp_path: Path, evidence: list[str], read: tuple[str, ...]
) -> None:
    corpus = read_corpus(written(tmp_path / "l.json", locomo({"question": "?", "evidence": evidence, "category": 1})))
    assert questions(corpus)[0].evidence == read


def test_a_question_without_evidence_is_asked_only_where_that_is_the_point(tmp_path: Path) -> None:
    none = {"question": "Would Ann sail?", "evidence": [], "category": 3}
    adversarial = {"question": "What did Bo sell?", "evidence": ["D1:1"], "category": 5, "adversarial_answer": "boat"}
    corpus = read_corpus(written(tmp_path / "l.json", locomo(none, adversarial)))
    assert questions(corpus) == [Asked(text="What did Bo sell?", category="adversarial")]


def test_a_broken_sample_of_locomo_is_told_with_its_name(tmp_path: Path) -> None:
    path = written(tmp_path / "l.json", [{"conversation": {"session_1": [{"text": "hi"}]}, "qa": []}])
    with pytest.raises(NotThis) as told:
        read_corpus(path)
    assert "l.json" in told.value.message
    assert "dia_id" in told.value.message


CHAT = {
    "name": {"speaker_1": "Eli", "speaker_2": "Uma"},
    "session_1_date_time": "29.12.2023, 00:51:12",
    "session_1": [
        {"clean_text": "Morning!", "speaker": "Eli", "date_time": "29.12.2023, 00:51:12", "dia_id": "D1:1"},
        {"clean_text": "", "speaker": "Uma", "date_time": "29.12.2023, 00:52:00", "dia_id": "D1:2"},
        {"clean_text": "Off for a run", "speaker": "Uma", "date_time": "29.12.2023, 00:53:00", "dia_id": "D1:3"},
    ],
    "qa": [{"question": "When did Uma run?", "answer": "29 December", "evidence": ["D1:3"], "category": 2}],
}


def test_a_chat_of_realtalk_has_a_time_for_each_turn(tmp_path: Path) -> None:
    corpus = read_corpus(written(tmp_path / "Chat_1.json", CHAT))
    assert (corpus.name, corpus.stores[0].name) == ("REALTALK", "Chat_1")
    assert [(turn.id, turn.time) for turn in corpus.stores[0].turns] == [
        ("D1:1", "2023-12-29T00:51:12+00:00"),
        ("D1:3", "2023-12-29T00:53:00+00:00"),
    ]
    assert questions(corpus) == [Asked(text="When did Uma run?", category="temporal", evidence=("D1:3",))]


def test_a_folder_of_chats_is_a_store_each(tmp_path: Path) -> None:
    for number in (1, 2):
        written(tmp_path / "data" / f"Chat_{number}.json", CHAT)
    assert [store.name for store in read_corpus(tmp_path / "data").stores] == ["Chat_1", "Chat_2"]


def test_a_passage_of_cmrc_answers_its_questions(tmp_path: Path) -> None:
    qas = [{"question": "谁开发的？", "id": "Q0", "answers": [{"text": "光荣", "answer_start": 0}] * 3}]
    paragraph = {"id": "DEV_0", "context": "光荣开发了这个游戏。", "qas": qas}
    corpus = read_corpus(
        written(tmp_path / "cmrc2018_dev.json", {"version": "v1", "data": [{"paragraphs": [paragraph]}]})
    )
    assert corpus.name == "CMRC"
    assert questions(corpus) == [
        Asked(text="谁开发的？", category="passage", evidence=("DEV_0",), answers=("光荣",)),
    ]


def test_a_question_of_squad_that_no_passage_answers_has_no_evidence(tmp_path: Path) -> None:
    qas = [{"question": "Who?", "id": "1", "answers": [], "is_impossible": True}]
    corpus = read_corpus(written(tmp_path / "s.json", {"data": [{"paragraphs": [{"context": "Text.", "qas": qas}]}]}))
    assert questions(corpus) == [Asked(text="Who?", category="adversarial")]


DIALOGUE = {
    "dialogue": ["<BOD>\n", '<Mia>:"元旦我要表演！"\n', '<Assistant>:"真棒。"\n', '<Assistant>:"你记得那支舞吗？"\n'],
    "test-turn": [3],
    "relevant-id": [1, 7],
    "user-id": 1,
    "id": 0,
}
MEMORIES = """{"1": {"time": "2023-12-25", "scene": "活动类", "event": "Mia跳舞。", "user-id": 1, "id": "1"}}
{"2": {"time": "2023-12-26", "scene": "活动类", "event": "Tom画画。", "user-id": 2, "id": "2"}}
"""


def test_madials_question_is_the_talk_before_the_turn_that_is_tested(tmp_path: Path) -> None:
    written(tmp_path / "zh-memory.json", MEMORIES)
    corpus = read_corpus(written(tmp_path / "zh-dialogue.json", DIALOGUE))
    assert [(store.name, [turn.text for turn in store.turns]) for store in corpus.stores] == [
        ("1", ["Mia跳舞。"]),
        ("2", ["Tom画画。"]),
    ]
    assert questions(corpus) == [Asked(text="元旦我要表演！\n真棒。", category="memory", evidence=("1", "7"))]


def test_madials_folder_serves_and_missing_memories_are_told(tmp_path: Path) -> None:
    written(tmp_path / "zh-dialogue.json", f"{json.dumps(DIALOGUE)}\n{json.dumps(DIALOGUE)}\n")
    with pytest.raises(NotThis) as told:
        read_corpus(tmp_path)
    assert "zh-memory.json" in told.value.hint
    written(tmp_path / "zh-memory.json", MEMORIES)
    assert len(questions(read_corpus(tmp_path))) == 2


def chats(**said: list[tuple[str, str]]) -> dict[str, object]:
    return {
        name: {"messages": [[{"text": text, "timestamp": "2018-05-05T19:38:15Z", "sender": who}] for who, text in some]}
        for name, some in said.items()
    }


ASKED = {
    "people": [
        {
            "person": "u1",
            "name": "Mia",
            "questions": [{"question": "Where did I row?", "category": "mine", "evidence": ["abcdefgh:0"]}],
        }
    ]
}


def test_one_persons_chats_with_others_are_a_store(tmp_path: Path) -> None:
    said = chats(
        abcdefgh1=[("u1", "I rowed on the lake"), ("u2", "nice")], alone=[("u1", "hello?")], none=[("u3", "x")]
    )
    corpus = chitchat(said, tmp_path, written(tmp_path / "q.json", ASKED))
    assert [(turn.id, turn.speaker, turn.text) for turn in corpus.stores[0].turns] == [
        ("abcdefgh:0", "Mia", "I rowed on the lake"),
        ("abcdefgh:1", "", "nice"),
    ]
    assert questions(corpus) == [Asked(text="Where did I row?", category="mine", evidence=("abcdefgh:0",))]


def test_other_chats_than_those_that_are_asked_about_are_told(tmp_path: Path) -> None:
    with pytest.raises(NotThis) as told:
        read_corpus(written(tmp_path / "dataset.json", chats(other=[("u1", "hi"), ("u2", "ho")])))
    assert "lacks the chats" in told.value.message


POD = """=head1 NAME

perlfaq9 - Webs

=head2 How do I fetch
a page? X<page> X<fetch>

Use C<LWP::Simple>, or I<curl> where that is at hand.

=head2 Books

Too many books to be named here.
"""
RST = """===
FAQ
===

.. _where:

Where do I store it?
--------------------

In a :class:`list`, see `the pages <https://example.org>`_ about ``append``.
"""
PLAIN = """目录

1. 概览
    1.1. 什么是内核？

第 1 章 概览

1.1. 什么是
内核？

    内核是操作系统最重要的部分，它管理硬
    件和进程。

1.2. 其他

    这里没有什么可以说的，也没有人会问到它。
"""


@pytest.mark.parametrize(
    ("name", "text", "asked", "answer"),
    [
        ("perlfaq9.pod", POD, "How do I fetch a page?", "Use LWP::Simple, or curl where that is at hand."),
        ("faq.rst", RST, "Where do I store it?", "In a list, see the pages about append."),
        ("faq.txt", PLAIN, "什么是内核？", "内核是操作系统最重要的部分，它管理硬件和进程。"),
    ],
)
def test_a_page_of_a_faq_gives_its_questions_and_their_answers(
    tmp_path: Path, name: str, text: str, asked: str, answer: str
) -> None:
    corpus = read_corpus(written(tmp_path / name, text))
    turns = {turn.id: turn.text for turn in corpus.stores[0].turns}
    assert [(each.text, turns[each.evidence[0]]) for each in questions(corpus)] == [(asked, answer)]


def test_a_packed_page_is_read_and_a_folder_of_pages_is_one_store(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(PLAIN.encode()))
    written(tmp_path / "b.pod", POD)
    corpus = read_corpus(tmp_path)
    assert [len(store.questions) for store in corpus.stores] == [2]
    assert len(corpus.stores[0].turns) == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", '{"nothing": 1}'),
        ("x.json", "not json"),
        ("x.txt", "no question"),
        ("x.csv", "a,b"),
        ("x.json", "[]"),
    ],
)
def test_a_file_in_none_of_the_formats_is_told_so(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(NotThis) as told:
        read_corpus(written(tmp_path / name, text))
    assert name in told.value.message
    with pytest.raises(NotThis):
        read_corpus(tmp_path / "absent.json")


def test_the_first_stores_only(tmp_path: Path) -> None:
    qa = {"question": "What did Ann sell?", "evidence": ["D1:1"], "category": 4}
    corpus = read_corpus(written(tmp_path / "l.json", [*locomo(qa), *locomo(qa)]))
    assert len(corpus.first(1).stores) == 1
    assert corpus.first(None) is corpus
