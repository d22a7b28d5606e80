"""Canaries behind every entrance: after forgetting no byte of the workspace holds one.

The look for them is the test's own (tests/memory/forget/bytes_of.py). The control: without any one of the steps some
of them stay, and so the test would fail.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.importers.jsonl import read_jsonl
from agent.importers.store import store_all
from agent.services.forget import forgetting
from agent.services.trust import trust_workspace
from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.memory import Memory
from tests.agent.forgetting.entrances import MARK, STAYS, WHOLE, Filler, fill, forget_all, go_on, page_texts
from tests.examples import SOAK
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("filled") / "ws"
    root.mkdir()
    count = fill(Workspace(root), 1)
    assert count > 20
    assert len(places_of(root, [MARK])) > 12
    yield root


@pytest.fixture
def space(filled: Path, tmp_path: Path) -> Workspace:
    return copied(filled, tmp_path / "ws")


def copied(filled: Path, to: Path) -> Workspace:
    shutil.copytree(filled, to)
    trust_workspace(Workspace(to), os.environ)
    return Workspace(to)


def left(space: Workspace) -> dict[str, list[str]]:
    found = places_of(space.root, [MARK, WHOLE])
    pages = [text for text in page_texts(space) if MARK in text]
    return found | ({"pages": pages} if pages else {}) | ({"whole": whole} if (whole := whole_files(space)) else {})


def whole_files(space: Workspace) -> list[str]:
    """Files and archived texts, all of which hold canaries."""
    memory = Memory.open(space, SystemClock())
    try:
        return [found.id for kind in ("archive", "knowledge") for found in memory.cold.conversations(kind=kind)]
    finally:
        memory.close()


def test_no_byte_is_left_and_what_stays_is_whole(space: Workspace) -> None:
    assert forget_all(space) == ()
    assert left(space) == {}
    memory = Memory.open(space, SystemClock())
    try:
        assert memory.cold.check() == []
        assert memory.vault.check() == []
        assert memory.versions.store.check() == []
        assert STAYS in memory.hot.memory_md()
        texts = [memory.passage(entry).text for entry in memory.conversations.entries(range(1, 100)).values()]
        assert sum(text.startswith(STAYS) for text in texts) == 3
    finally:
        memory.close()


STEPS = (
    "conversations",
    "pages",
    "rows",
    "names",
    "notes",
    "versions",
    "mirrors",
    "search",
    "caches",
    "copies",
    "logs",
    "checkpoints",
    "drafts",
    "prompts",
    "database",
)


def test_every_step_is_switched_off_below(space: Workspace) -> None:
    memory = Memory.open(space, SystemClock())
    own = {"tombstones", "images", "note names"}  # below, and in test_names_of_files
    assert set(STEPS) | own == set(forgetting(memory).steps)
    memory.close()


def _import_again(space: Workspace) -> int:
    """Imports what the workspace once imported; gives how many entries were left out."""
    memory = Memory.open(space, SystemClock())
    try:
        line = {"id": "i0", "conversation": "far", "role": "user", "text": f"Imported {MARK}0001, a word of the past."}
        records = read_jsonl([json.dumps(line).encode() + b"\n"], "far")
        report = store_all(memory.conversations, records, source="elsewhere", fixed_source=False)
        return report.forgotten
    finally:
        memory.close()


@pytest.mark.parametrize("without", ["", "tombstones"])
def test_without_tombstones_an_import_brings_it_back(tmp_path: Path, without: str) -> None:
    space = empty(tmp_path / "ws")
    assert _import_again(space) == 0
    assert places_of(space.root, [MARK])
    assert forget_all(space, without=without) == ()
    assert places_of(space.root, [MARK]) == {}
    assert _import_again(space) == (0 if without else 1)
    assert bool(places_of(space.root, [MARK])) == bool(without)


@pytest.mark.parametrize("without", ["", "images"])
def test_without_images_a_pasted_picture_stays(tmp_path: Path, without: str) -> None:
    space = empty(tmp_path / "ws")
    memory = Memory.open(space, SystemClock())
    space.pasted_images.mkdir(parents=True)
    image = space.pasted_images / f"clipboard-{'a' * 12}.png"
    image.write_bytes(b"a picture")
    filler = Filler(memory)
    filler.say(f"What is in {image}, {filler.canary()}?")
    memory.close()
    assert forget_all(space, without=without) == ()
    assert image.exists() == bool(without)


def empty(root: Path) -> Workspace:
    root.mkdir()
    return Workspace(root)


@pytest.mark.parametrize("step", STEPS if SOAK else STEPS[::3])
def test_without_one_step_something_is_left(space: Workspace, step: str) -> None:
    found = forget_all(space, without=step)
    if step == "database":  # closing it empties the log
        assert [place for place in found if place.endswith("-wal")]
    else:
        assert left(space)


def test_the_next_start_finishes_what_a_failing_step_left(space: Workspace) -> None:
    forget_all(space, without="logs")
    assert left(space)
    go_on(space)
    assert left(space) == {}
