"""Single-bit flips in every column that holds text: no wrong text is called exact, and `check` names every flip."""

import os
import random
from collections import Counter
from pathlib import Path

import pytest
from msgspec import Struct, field

from foundation.paths import Workspace
from memory.check import check
from tests.hostile.exact_texts import LONG, exact, fill
from tests.hostile.flips import Cell, cells, chosen, flipped, put

SAMPLE, WHOLE = 8, 1000


@pytest.fixture
def filled(workspace: Workspace, tmp_path: Path) -> Workspace:
    fill(workspace, tmp_path)
    return workspace


class Flips(Struct):
    """What so many flips came to."""

    tried: int = 0
    wrong: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)
    refused: int = 0
    columns: Counter[str] = field(default_factory=Counter)


def flip_all(workspace: Workspace, flips: list[tuple[Cell, int]]) -> Flips:
    told, sound = Flips(), exact(workspace)[0]
    assert {"The manual says: pump pressure 2.5 bar.", "The heron stands in the reeds.", LONG} <= sound.texts
    assert sound.snippets
    for cell, bit in flips:
        value = flipped(cell, bit)
        put(workspace.database, cell, value, cell.value)
        where = f"{cell.name} {cell.key} bit {bit}"
        try:
            given, refused = exact(workspace)
            told.wrong += [f"{where}: {one[:200]!r}" for one in sorted(given.wrong(sound))]
            told.refused += refused
            if not check(workspace).problems:
                told.unnamed.append(where)
        except Exception as error:  # each is counted: it is no clear sentence
            told.defects.append(f"{where}: {error!r}")
        told.tried += 1
        told.columns[cell.name] += 1
        put(workspace.database, cell, cell.value, value)
    assert exact(workspace)[0] == sound  # all were put back
    return told


def reported(told: Flips) -> str:
    ways = f"{told.tried} flips in {len(told.columns)} columns, {told.refused} refusals"
    return "\n".join(
        [
            ways,
            *(f"WRONG {one}" for one in told.wrong),
            *(f"UNNAMED {one}" for one in told.unnamed),
            *(f"DEFECT {one}" for one in told.defects),
        ]
    )


@pytest.mark.timeout(60)
def test_a_flipped_bit_never_makes_a_wrong_text_exact(filled: Workspace) -> None:
    told = flip_all(filled, chosen(cells(filled.database), SAMPLE, random.Random(os.environ.get("FLIPS_SEED", "9"))))
    print(reported(told))
    assert (told.wrong, told.unnamed, told.defects) == ([], [], []), reported(told)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_thousand_flipped_bits_never_make_a_wrong_text_exact(filled: Workspace) -> None:
    told = flip_all(filled, chosen(cells(filled.database), WHOLE, random.Random(2026)))
    print(reported(told))
    assert told.tried == WHOLE
    assert (told.wrong, told.unnamed, told.defects) == ([], [], []), reported(told)
