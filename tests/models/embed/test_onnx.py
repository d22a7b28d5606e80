"""Vectors by the real onnxruntime, of models that are made here."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from models.embed.errors import EmbedError
from models.embed.manifest import EmbeddingRecipe, recipe_of
from models.embed.settings import EmbedSettings
from models.embed.tokens import pool_states
from tests.models.embed.conftest import Opened
from tests.models.embed.tiny_models import WORDS, bag_onnx, bert_folder

pytest.importorskip("onnxruntime")


def test_the_mean_of_all_tokens_is_the_vector(folder: Path, opened: Opened) -> None:
    vector = opened(f"onnx:{bag_onnx(folder)}").embed(["boiler boiler tea"])[0]
    counts = np.zeros(len(WORDS))
    for word in ("[CLS]", "boiler", "boiler", "tea", "[SEP]"):
        counts[WORDS.index(word)] += 1
    assert np.allclose(vector, counts / np.linalg.norm(counts), atol=1e-6)


def test_a_batch_gives_what_each_text_gives_alone(folder: Path, opened: Opened) -> None:
    """What is padded counts for nothing: attention, mean and order."""
    embedder = opened(f"onnx:{bert_folder(folder)}", batch=2)
    texts = ["tea", "the warranty of the boiler", "ferry lisbon", "", "coffee tea coffee tea the of the", "boiler"]
    together = embedder.embed(texts)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-5)
    assert len({tuple(row.round(3)) for row in together}) == len(texts)


def test_a_model_that_pools_itself_is_believed(folder: Path, opened: Opened) -> None:
    vector = opened(f"onnx:{bag_onnx(folder, answer='pooled')}").embed(["boiler boiler tea"])[0]
    assert np.isclose(vector[WORDS.index("boiler")], vector[WORDS.index("tea")])


def test_the_hubs_folder_is_taken_too(folder: Path, opened: Opened) -> None:
    bag_onnx(folder)
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert opened(f"onnx:{folder}").embed(["tea"]).shape == (1, len(WORDS))


def test_long_texts_are_cut_where_the_model_ends(folder: Path, opened: Opened) -> None:
    embedder = opened(f"onnx:{bert_folder(folder)}")
    found = embedder.embed(["tea " * 1000, "tea " * 62])  # 64 places, two of them for [CLS] and [SEP]
    assert np.allclose(found[0], found[1], atol=1e-6)


def test_numbers_that_are_none_are_refused(folder: Path, opened: Opened) -> None:
    with pytest.raises(EmbedError, match="NaN"):
        opened(f"onnx:{bag_onnx(folder, broken='nan')}").embed(["tea"])


def test_a_model_of_something_else_is_a_sentence(folder: Path, opened: Opened) -> None:
    with pytest.raises(EmbedError, match="pixel_values"):
        opened(f"onnx:{bag_onnx(folder, broken='input')}").embed(["tea"])


def test_a_folder_without_a_model_is_a_sentence(tmp_path: Path, opened: Opened) -> None:
    with pytest.raises(EmbedError, match=r"no model\.onnx"):
        opened(f"onnx:{tmp_path}")


def test_a_broken_model_is_a_sentence(folder: Path, opened: Opened) -> None:
    bag_onnx(folder)
    (folder / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(EmbedError, match=r"model\.onnx"):
        opened(f"onnx:{folder}").embed(["tea"])


def test_a_missing_tokenizer_is_a_sentence(folder: Path, opened: Opened) -> None:
    bag_onnx(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(EmbedError, match=r"tokenizer\.json"):
        opened(f"onnx:{folder}").embed(["tea"])


def test_another_model_has_another_name(tmp_path: Path, opened: Opened) -> None:
    one, same, other = (
        opened(f"onnx:{bert_folder(tmp_path / 'a' / 'm')}"),
        opened(f"onnx:{bert_folder(tmp_path / 'b' / 'm')}"),
        opened(f"onnx:{bag_onnx(tmp_path / 'c' / 'm')}"),
    )
    assert one.name == same.name
    assert one.name != other.name
    assert opened(f"onnx:{tmp_path / 'a' / 'm'}", dimensions=8).name != one.name


def test_several_threads_embed_at_once(folder: Path, opened: Opened) -> None:
    embedder = opened(f"onnx:{bert_folder(folder)}")
    wanted = embedder.embed(["tea", "the boiler"])
    found: list[bool] = []

    def ask() -> None:
        found.append(all(np.allclose(embedder.embed(["tea", "the boiler"]), wanted) for _ in range(20)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_the_folder_says_how_it_pools_and_what_it_wants_before_a_question(folder: Path) -> None:
    bert_folder(folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 32}))
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    found = recipe_of(folder, EmbedSettings())
    assert (found.pooling, found.most_tokens, found.query_prefix, found.text_prefix) == (
        "first",
        32,
        "query: ",
        "passage: ",
    )
    assert recipe_of(folder, EmbedSettings(query_prefix="")).query_prefix == ""


def test_each_way_of_pooling() -> None:
    states = np.arange(12.0).reshape(1, 4, 3)
    mask = np.array([[1, 1, 1, 0]])
    assert pool_states(states, mask, EmbeddingRecipe(pooling="first"))[0].tolist() == [0, 1, 2]
    assert pool_states(states, mask, EmbeddingRecipe(pooling="last"))[0].tolist() == [6, 7, 8]
    assert pool_states(states, mask, EmbeddingRecipe(pooling="mean"))[0].tolist() == [3, 4, 5]
