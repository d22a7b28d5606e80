"""Vectors over HTTP: from a real llama.cpp, and from a server that fails in every way there is."""

import json
import threading
import time
from typing import Any

import numpy as np
import pytest

from foundation.errors import Misuse
from models.embed import server
from models.embed.errors import EmbedError
from models.embed.open import open_embedder, parse_embedder
from models.embed.settings import EmbedSettings
from models.settings import ModelSettings
from tests.loopback import Cut, Loopback, Pause, Received, Reply, Stall, http, json_reply
from tests.models.embed.conftest import Opened
from tests.servers import LlamaServer


def vectors(*rows: Any, indices: list[int] | None = None) -> Reply:
    places = indices or list(range(len(rows)))
    return json_reply({"data": [{"embedding": row, "index": at} for row, at in zip(rows, places, strict=True)]})


def counted(request: Received) -> Reply:
    """A vector that says how long each text is."""
    return vectors(*([float(len(text)), 1.0] for text in request.json["input"]))


# ── a real server ──


def test_llama_cpp_gives_vectors_of_unit_length(embeddings_at_llama: str, opened: Opened) -> None:
    embedder = opened(f"openai:bag@{embeddings_at_llama}/v1")
    found = embedder.embed(["the boiler", "boiler the", "zzzz zzzz"])
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert found[0] @ found[1] > 0.999  # the same bytes
    assert found[0] @ found[2] < 0.5


def test_batches_at_llama_cpp_come_back_in_order(embeddings_at_llama: str, opened: Opened) -> None:
    texts = [letter * 5 for letter in "abcdefghij"]
    embedder = opened(f"openai:bag@{embeddings_at_llama}/v1", batch=3)
    found = embedder.embed(texts)
    alone = np.concatenate([embedder.embed([text], query=True) for text in texts])
    assert np.allclose(found, alone, atol=1e-5)
    assert np.allclose(found @ found.T, np.eye(10), atol=0.01)


def test_a_server_that_does_not_embed_says_how_it_would(llama_server: LlamaServer, opened: Opened) -> None:
    embedder = opened(f"openai:chat@{llama_server.address}/v1")
    with pytest.raises(EmbedError, match="embeddings"):
        embedder.embed(["a text"])


def test_a_text_too_long_for_llama_cpp_is_the_texts_own_trouble(embeddings_at_llama: str, opened: Opened) -> None:
    embedder = opened(f"openai:bag@{embeddings_at_llama}/v1")
    with pytest.raises(EmbedError) as caught:
        embedder.embed(["y" * 5000])
    assert caught.value.of_text
    assert not caught.value.passing


def test_a_text_too_long_is_not_asked_for_again(loopback: Loopback, opened: Opened) -> None:
    said = "input (5000 tokens) is too large to process. increase the physical batch size"
    loopback.answers_all(lambda _: json_reply({"error": {"message": said}}, status=500))
    with pytest.raises(EmbedError):
        opened(f"openai:m@{loopback.address}/v1").embed(["a"])
    assert len(loopback.posts) == 1


# ── what is sent ──


def test_batches_of_different_lengths_are_refused(loopback: Loopback, opened: Opened) -> None:
    loopback.answers_all(lambda request: vectors([1.0] * len(request.json["input"][0])))
    with pytest.raises(EmbedError, match="changing lengths"):
        opened(f"openai:m@{loopback.address}/v1", batch=1).embed(["ab", "abc"])


def test_what_is_asked_for(loopback: Loopback, opened: Opened) -> None:
    loopback.answers_all(counted)
    embedder = opened(f"openai:nomic@{loopback.address}/v1", query_prefix="query: ", text_prefix="text: ")
    embedder.embed(["a", "b"])
    embedder.embed(["c"], query=True)
    first, second = loopback.posts
    assert first.path == "/v1/embeddings"
    assert first.json == {"model": "nomic", "input": ["text: a", "text: b"], "encoding_format": "float"}
    assert second.json["input"] == ["query: c"]


def test_vectors_are_put_in_the_order_of_their_numbers(loopback: Loopback, opened: Opened) -> None:
    loopback.plays(vectors([0.0, 2.0], [3.0, 0.0], indices=[1, 0]))
    found = opened(f"openai:m@{loopback.address}/v1").embed(["a", "b"])
    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_cut_vector_is_of_unit_length_again(loopback: Loopback, opened: Opened) -> None:
    loopback.plays(vectors([3.0, 4.0, 12.0]))
    found = opened(f"openai:m@{loopback.address}/v1", dimensions=2).embed(["a"])
    assert np.allclose(found, [[0.6, 0.8]])


def test_a_lone_surrogate_does_not_stop_a_batch(loopback: Loopback, opened: Opened) -> None:
    loopback.answers_all(counted)
    assert len(opened(f"openai:m@{loopback.address}/v1").embed(["a\ud800", "b"])) == 2


def test_nothing_is_asked_for_nothing(loopback: Loopback, opened: Opened) -> None:
    assert opened(f"openai:m@{loopback.address}/v1").embed([]).shape[0] == 0
    assert not loopback.posts


# ── what goes wrong ──

BAD: dict[str, tuple[Reply, str]] = {
    "no json": (http(b"<html>hello</html>"), "is not JSON"),
    "other json": (json_reply({"choices": []}), "without vectors"),
    "an error in a 200": (json_reply({"error": {"message": "loading failed"}}), "loading failed"),
    "too few": (vectors([1.0]), "1 vectors for 2 texts"),
    "different lengths": (vectors([1.0], [1.0, 2.0]), "different lengths"),
    "empty": (vectors([], []), "different lengths"),
    "twice the same number": (vectors([1.0], [2.0], indices=[0, 0]), "ambiguously"),
    "null": (http(b'{"data":[{"embedding":[null,1],"index":0},{"embedding":[1,1],"index":1}]}'), "null"),
    "not finite": (
        http(b'{"data":[{"embedding":[1e999,1],"index":0},{"embedding":[1,1],"index":1}]}'),
        "without vectors",
    ),
    "huge": (vectors([1e308, 1e308], [1.0, 1.0]), "NaN or infinity"),
    "zeros": (vectors([0.0, 0.0], [1.0, 1.0]), "zeros"),
    "base64": (vectors("AACAPw==", "AACAPw=="), "base64"),
    "words": (vectors(["a"], ["b"]), "without vectors"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_is_a_sentence(name: str, loopback: Loopback, opened: Opened) -> None:
    reply, said = BAD[name]
    loopback.plays(reply)
    with pytest.raises(EmbedError, match=said) as caught:
        opened(f"openai:m@{loopback.address}/v1").embed(["a", "b"])
    assert not caught.value.passing
    assert len(loopback.posts) == 1


@pytest.mark.parametrize(
    ("reply", "passing"),
    [
        (json_reply({"error": {"message": "nope"}}, status=401), False),
        (json_reply({"error": {"message": "model 'm' not found"}}, status=404), False),
        (json_reply({"error": {"message": "busy"}}, status=503), True),
        (json_reply({"error": {"message": "later"}}, status=429), True),
        ([Cut()], True),
    ],
    ids=["key", "model", "busy", "often", "cut"],
)
def test_what_passes_is_asked_again_so_many_times(
    reply: Reply, passing: bool, loopback: Loopback, opened: Opened
) -> None:
    loopback.answers_all(lambda _: reply)
    with pytest.raises(EmbedError) as caught:
        opened(f"openai:m@{loopback.address}/v1").embed(["a"])
    assert caught.value.passing is passing
    assert len(loopback.posts) == (3 if passing else 1)  # `hasty` has two retries


def test_a_busy_server_is_asked_again(loopback: Loopback, opened: Opened) -> None:
    loopback.plays(json_reply({}, status=503), vectors([1.0, 0.0]))
    assert opened(f"openai:m@{loopback.address}/v1").embed(["a"]).tolist() == [[1.0, 0.0]]


def test_a_server_that_loads_is_waited_for(loopback: Loopback, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOADING_WAIT", 0.01)
    loading = json_reply({"error": {"message": "Loading model"}}, status=503)
    loopback.plays(*[loading] * 8, vectors([1.0]))
    assert opened(f"openai:m@{loopback.address}/v1").embed(["a"]).tolist() == [[1.0]]


def test_a_question_is_asked_once_and_briefly(loopback: Loopback, opened: Opened) -> None:
    loopback.plays([Stall()])
    began = time.monotonic()
    with pytest.raises(EmbedError, match=r"within 0\.2 s") as caught:
        opened(f"openai:m@{loopback.address}/v1", query_timeout=0.2).embed(["a"], query=True)
    assert time.monotonic() - began < 2
    assert caught.value.passing
    assert len(loopback.posts) == 1


def test_no_server_is_a_sentence(opened: Opened) -> None:
    with pytest.raises(EmbedError, match="No server is running at") as caught:
        opened("openai:m@http://127.0.0.1:9/v1").embed(["a"], query=True)
    assert caught.value.passing
    assert "/model" not in caught.value.hint


def test_an_answer_without_end_is_ended(loopback: Loopback, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LARGEST_VECTOR", 10_000)
    loopback.plays(http([b"[" * 2**20] * 16 + [b"[" * 10_001, Stall()]))
    with pytest.raises(EmbedError, match=r"models\.limits\.body_mb"):
        opened(f"openai:m@{loopback.address}/v1").embed(["a"])


@pytest.mark.parametrize(
    "body", [b"[" * 200_000, b'{"data":[' + b"[]," * 200_000, b'{"data":[{"embedding":[' + b"1," * 1_200_000]
)
def test_an_answer_of_far_more_values_than_vectors_is_refused(loopback: Loopback, opened: Opened, body: bytes) -> None:
    loopback.plays(http(body))
    with pytest.raises(EmbedError, match="far more values"):
        opened(f"openai:m@{loopback.address}/v1").embed(["a"])


def test_two_threads_ask_at_once(loopback: Loopback, opened: Opened) -> None:
    """A search does not wait for a batch of the background."""
    loopback.answers_all(
        lambda request: [Pause(1.5), *counted(request)] if len(request.json["input"]) > 1 else counted(request)
    )
    embedder = opened(f"openai:m@{loopback.address}/v1", timeout=5)
    batch = threading.Thread(target=embedder.embed, args=(["a", "b"],))
    batch.start()
    while not loopback.posts:
        time.sleep(0.01)
    began = time.monotonic()
    embedder.embed(["question"], query=True)
    assert time.monotonic() - began < 1
    batch.join()


def test_closing_ends_what_runs(loopback: Loopback, hasty: ModelSettings) -> None:
    embedder = open_embedder(
        f"openai:m@{loopback.address}/v1", settings=EmbedSettings(timeout=60), models=hasty, env={}
    )
    assert embedder is not None
    loopback.plays([Stall()])
    raised: list[BaseException] = []

    def ask() -> None:
        try:
            embedder.embed(["a"])
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while not loopback.posts:
        time.sleep(0.01)
    embedder.close()
    thread.join(5)
    assert not thread.is_alive()
    assert isinstance(raised[0], EmbedError)
    assert loopback.client_left.wait(2)
    with pytest.raises(EmbedError, match="closed"):
        embedder.embed(["b"])


# ── names ──


@pytest.mark.parametrize("name", ["", "none", " none "])
def test_none_is_no_embedder(name: str) -> None:
    assert parse_embedder(name) is None


@pytest.mark.parametrize("name", ["offline", "anthropic:m", "onnx:", "minilm", "ollama:", "fast:x"])
def test_what_names_no_embedder_is_misuse(name: str) -> None:
    with pytest.raises(Misuse):
        parse_embedder(name)


def test_a_server_elsewhere_is_told_from_one_here(opened: Opened) -> None:
    assert not opened("ollama:nomic-embed-text").remote
    assert opened("openai:text-embedding-3-small").remote
    assert opened("openai:m@http://192.168.1.4:8080/v1").remote


def test_a_model_moves_to_another_port_with_its_vectors(opened: Opened) -> None:
    here, there = opened("openai:m@http://127.0.0.1:1/v1"), opened("openai:m@http://127.0.0.1:2/v1")
    assert here.name == there.name
    assert here.name != opened("openai:m@http://127.0.0.1:1/v1", dimensions=64).name
    assert here.name != opened("openai:m@http://127.0.0.1:1/v1", text_prefix="text: ").name


def test_a_key_goes_with_the_request(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.answers_all(counted)
    embedder = open_embedder(
        f"openai:m@{loopback.address}/v1",
        settings=EmbedSettings(),
        models=hasty,
        env={"PALIMPSEST_OPENAI_KEY": "k" + "1" * 20},
    )
    assert embedder is not None
    embedder.embed(["a"])
    embedder.close()
    assert loopback.posts[0].headers["authorization"] == "Bearer k" + "1" * 20
    assert "Bearer" not in json.dumps(loopback.posts[0].json)
