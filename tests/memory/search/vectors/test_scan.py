"""Exact dot products of int8 vectors: whatever counts them, the same comes out."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.search.vectors import similarity
from memory.search.vectors.similarity import AT_ONCE, by_numpy, inverse_lengths, kernel, quantised, scores
from tests.examples import examples


def unit(rows: int, dimensions: int, seed: int = 3) -> Any:
    found = np.random.default_rng(seed).normal(size=(rows, dimensions)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@given(st.integers(1, 40), st.integers(1, 600), st.integers(0, 2**32))
@settings(max_examples=examples(50))
def test_the_kernel_counts_as_whole_numbers_do(rows: int, dimensions: int, seed: int) -> None:
    some = np.random.default_rng(seed).integers(-127, 128, (rows + 1, dimensions), dtype=np.int8)
    wanted = some[1:].astype(np.int64) @ some[0].astype(np.int64)
    for dots in (kernel(), by_numpy):
        out = np.empty((1, rows))
        dots(some[:1], some[1:], out)
        assert out[0].tolist() == wanted.tolist()


@pytest.mark.parametrize("rows", [1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE + 7])
def test_cosines_over_the_edges_of_the_parts(rows: int) -> None:
    vectors = unit(rows, 16)
    query = unit(1, 16, seed=9)
    whole = quantised(vectors)
    out = np.empty(rows, np.float32)
    asked = quantised(query)
    scores(asked, whole, inverse_lengths(whole), out)
    out *= inverse_lengths(asked)
    assert np.abs(out - vectors @ query[0]).max() < 0.03
    assert len(np.unique(out.round(6))) > rows * 0.5


def test_a_row_of_zeros_has_no_length() -> None:
    rows = np.zeros((2, 8), np.int8)
    rows[1] = 3
    assert inverse_lengths(rows).tolist() == [0, pytest.approx(1 / np.sqrt(72))]


def test_quantising_keeps_the_direction() -> None:
    vectors = unit(200, 384)
    back = quantised(vectors).astype(np.float32)
    back /= np.linalg.norm(back, axis=1, keepdims=True)
    assert ((vectors * back).sum(axis=1) > 0.9995).all()


def test_without_numkong_numpy_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numkong", None)
    assert kernel.__wrapped__() is by_numpy


def test_a_numkong_that_counts_wrong_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def cdist(query: Any, rows: Any, *, metric: str, out: Any) -> None:
        out[:] = 1

    monkeypatch.setitem(sys.modules, "numkong", SimpleNamespace(cdist=cdist))
    assert similarity.kernel.__wrapped__() is by_numpy


def test_numkong_is_used_where_it_is() -> None:
    pytest.importorskip("numkong")
    assert kernel() is not by_numpy
