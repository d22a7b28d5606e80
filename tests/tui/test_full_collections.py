"""Full garbage collections while the chat runs, in a process of its own: what is frozen stays so."""

import json
import subprocess
import sys

from tests.paths import ROOT

PROGRAM = """
import gc, json
from tui.full_collections import FREEZES, FullCollections

class Node:
    def __init__(self):
        self.itself = self

old = [Node() for _ in range(50_000)]
collections = FullCollections()
collections.start()
searched = [len(gc.get_objects())]
later = [Node() for _ in range(1_000)]
for _ in range(FREEZES + 3):
    gc.collect()
searched.append(collections.frozen)
searched.append(len([None for call in gc.callbacks if call == collections._collected]))
dead = [Node() for _ in range(1_000)]
del dead
searched.append(gc.collect())
print(json.dumps(searched))
"""


def test_what_the_start_made_is_not_searched_again_and_later_garbage_is_freed() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, cwd=ROOT)
    searched, frozen, watching, freed = json.loads(run.stdout)
    assert searched < 10_000, "50,000 objects of the start are left alone"
    assert (frozen, watching) == (4, 0), "a day of use freezes no more"
    assert freed >= 1_000
