"""The sizes that a page goes through as it ages, by the arithmetic of the one who reads it."""

from memory.archive.modes import DENSE, Mode, mode_named
from memory.archive.profiles import RenderProfile

CHARACTERS_A_TOKEN = 4.63  # English by DeepSeek's tokenizer (docs/pages.md)
GAIN = 1.5  # the larger cells are chosen for the newest pages where they still save a third


def ladder(profile: RenderProfile) -> tuple[Mode, ...]:
    """From the newest pages' size to the oldest's. The newest are drawn in the larger cells where that pays."""
    dense = profile.cell == DENSE.name
    newest = mode_named(profile.modes[0])
    pays = newest.capacity / CHARACTERS_A_TOKEN >= GAIN * profile.tokens(newest.name)
    first = newest if pays or not dense else mode_named(newest.name, dense=True)
    return (first, *(mode_named(name, dense=dense) for name in profile.modes[1:]))
