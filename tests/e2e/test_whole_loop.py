"""From an empty folder to a passage read back from pixels, through the program that a person starts."""

import json
import re
import shutil
from pathlib import Path

import pytest
from PIL import Image

from tests.e2e.conftest import Palimpsest
from tests.e2e.conversation import FACT, FACT_ZH, QUESTION, talk_jsonl
from tests.e2e.recording_proxy import RecordingProxy
from tests.servers import LlamaServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture
def imported(palimpsest: Palimpsest, tmp_path: Path) -> Palimpsest:
    return with_talk(palimpsest, tmp_path)


def with_talk(palimpsest: Palimpsest, tmp_path: Path) -> Palimpsest:
    """The program, with the long talk in its workspace."""
    talk = tmp_path / "talk.jsonl"
    talk.write_text(talk_jsonl(), encoding="utf-8")
    done = palimpsest("import", str(talk), "--from", "jsonl", "--source", "letters")
    assert done.status == 0, done.err
    return palimpsest


def test_with_no_model_it_answers_from_memory_with_a_citation(started: Palimpsest, tmp_path: Path) -> None:
    imported = with_talk(started, tmp_path)
    answer = imported("-p", QUESTION)
    assert answer.status == 0, answer.err
    assert "blue tin behind the third tomato pot" in answer.out
    assert "t100" in answer.out
    assert "2026-03-05" in answer.out
    assert "language model" in answer.out

    without = imported("-p", QUESTION, PALIMPSEST_CONTEXT_RECALL="false")
    assert without.status == 0, without.err
    assert "blue tin" not in without.out


def test_it_answers_in_chinese_from_a_chinese_passage(imported: Palimpsest) -> None:
    question = "备用钥匙的密码是什么?"
    assert "孔雀石七号" in imported("-p", question).out
    assert "孔雀石七号" not in imported("-p", question, PALIMPSEST_CONTEXT_RECALL="false").out


def test_the_server_receives_the_recalled_passage_and_without_recall_it_does_not(
    imported: Palimpsest, watched_llama: RecordingProxy, llama_server: LlamaServer
) -> None:
    model = f"openai:scripted@{watched_llama.address}/v1"
    with_recall = imported("--model", model, "-p", QUESTION, "--output-format", "json")
    assert with_recall.status == 0, with_recall.err
    assert FACT in watched_llama.sent()
    assert re.search(r'<palimpsest-recalled-[a-z]{8} trust="exact">', watched_llama.sent())
    assert with_recall.json["text"].strip() == llama_server.reply
    assert any("t100]" in hit["citation"] for hit in with_recall.json["recalled"])

    without = imported("--model", model, "-p", QUESTION, PALIMPSEST_CONTEXT_RECALL="false")
    assert without.status == 0, without.err
    assert len(watched_llama.chats) == 2
    assert FACT not in watched_llama.sent()


def test_stream_json_says_that_the_message_is_on_disk_before_the_first_word(
    started: Palimpsest, llama_server: LlamaServer
) -> None:
    done = started("--model", llama_server.spec, "-p", "hello", "--output-format", "stream-json")
    kinds = [line["type"] for line in done.lines]
    assert kinds[0] == "user"
    assert kinds.index("user") < kinds.index("text")
    assert kinds[-1] == "result"
    result = done.lines[-1]
    assert result["text"].strip() == llama_server.reply
    assert "".join(line["text"] for line in done.lines if line["type"] == "text") == result["text"]
    assert result["usage"]["prompt_tokens"] > 0
    assert sum(layer["tokens"] for layer in result["context"]["layers"]) == result["context"]["total_tokens"]


def test_within_an_epoch_each_request_begins_with_the_one_before(
    palimpsest: Palimpsest, watched_llama: RecordingProxy
) -> None:
    model = f"openai:scripted@{watched_llama.address}/v1"
    for text in ("first things first", "second thoughts", "third time lucky"):
        done = palimpsest("--model", model, "-p", text, *(["-c"] if watched_llama.chats else []))
        assert done.status == 0, done.err
    first, second, third = (chat["messages"] for chat in watched_llama.chats)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert len(third) > len(second) > len(first)


def test_private_words_reach_the_server_and_no_file(
    palimpsest: Palimpsest, watched_llama: RecordingProxy, tmp_path: Path
) -> None:
    model = f"openai:scripted@{watched_llama.address}/v1"
    word = "xylophone-" + "marmalade"
    done = palimpsest("--model", model, "-p", f"My code is <private>{word}</private>, keep it.")
    assert done.status == 0, done.err
    assert word in watched_llama.sent()
    assert "<private>" not in watched_llama.sent()
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert word.encode() not in path.read_bytes(), path


def test_what_overflows_becomes_pages_and_comes_back_exact_from_the_pixels(
    palimpsest: Palimpsest, watched_llama: RecordingProxy, tmp_path: Path
) -> None:
    model = f"openai:scripted@{watched_llama.address}/v1"
    wish = "Remember for later: the cello lesson moved to 17:45 on Thursdays, room 4B, bring rosin. " + FACT_ZH
    small = {"PALIMPSEST_MODELS_WINDOW": "4000", "PALIMPSEST_CONTEXT_RESERVE": "500"}
    filler = "Tell me more about the weather on day {n}: " + "clouds over the harbour and a slow wind. " * 16
    assert palimpsest("--model", model, "-p", wish, **small).status == 0
    for n in range(4):
        done = palimpsest("--model", model, "-c", "-p", filler.format(n=n), **small)
        assert done.status == 0, done.err
    stats = palimpsest("stats", "--json").json
    assert stats["pages"] > 0
    assert list((tmp_path / "ws" / ".palimpsest" / "packs").iterdir())

    found = palimpsest("recall", "cello lesson", "--json").json
    assert found["found"]
    hit = found["hits"][0]
    assert hit["text"] == wish
    assert hit["trust"] == "exact"
    assert hit["engine"] == "cells"

    asked = ["--model", model, "-p", "When is the cello lesson, and what do I bring?"]
    assert palimpsest(*asked).status == 0
    recalled = watched_llama.sent().partition("<palimpsest-recalled")[2]
    assert wish in recalled
    assert f"· {hit['id']}" in recalled
    assert palimpsest(*asked, PALIMPSEST_CONTEXT_RECALL="false").status == 0
    assert "17:45" not in watched_llama.sent()


def test_recall_succeeds_from_the_re_encoded_renamed_png_alone(palimpsest: Palimpsest, tmp_path: Path) -> None:
    original = tmp_path / "letter.txt"
    text = talk_jsonl(60)
    original.write_text(text, encoding="utf-8", newline="")
    archived = palimpsest("archive", str(original), "--label", "letter", "--no-text", "--json", "--png", str(tmp_path))
    assert archived.status == 0, archived.err
    pages = sorted(tmp_path.glob("*.png"))
    assert len(pages) == len(archived.json["pages"])
    shutil.rmtree(tmp_path / "ws")
    original.unlink()

    read = []
    for number, page in enumerate(pages):
        elsewhere = tmp_path / "elsewhere" / f"holiday-{number}.png"
        elsewhere.parent.mkdir(exist_ok=True)
        with Image.open(page) as image:
            image.convert("RGB").save(elsewhere, optimize=True)
        page.unlink()
        recalled = palimpsest("recall", str(elsewhere), "--json", workspace=tmp_path / "empty")
        assert recalled.status == 0, recalled.err
        assert recalled.json["hits"][0]["trust"] == "exact"
        read.append(recalled.json["hits"][0]["text"])
    assert "".join(read) == text


def test_a_dead_server_leaves_the_message_and_a_sentence(palimpsest: Palimpsest) -> None:
    done = palimpsest("--model", "openai:x@http://127.0.0.1:9/v1", "-p", "are you there?", "--output-format", "json")
    assert done.status == 1
    error = json.loads(done.out.splitlines()[-1])["error"]
    assert error["code"] == "refused"
    assert "127.0.0.1:9" in error["message"]
    kept = palimpsest("conversations", "list", "--json").json
    assert kept["conversations"][0]["title"] == "are you there?"
