"""The sizes that a page goes through as it ages, by the arithmetic of the one who reads it."""

from memory.pages.cost.profiles import RenderProfile
from memory.pages.render.modes import DENSE, Mode, mode_named

CHARACTERS_A_TOKEN = 4.63  # English by DeepSeek's tokenizer (docs/pages.md)
GAIN = 2.0  # the larger cells are chosen for the newest pages where they still save half


def ladder(profile: RenderProfile, room: int) -> tuple[Mode, ...]:
    """From the newest pages' size to the oldest's, for pages that may take `room` tokens together.

    None costs more than half of that, where there is a choice. The newest are drawn in the larger cells where that
    pays.
    """
    names = [name for name in profile.modes if 2 * profile.tokens(name) <= room] or profile.modes[-1:]
    dense = profile.cell == DENSE.name
    newest = mode_named(names[0])
    pays = newest.capacity / CHARACTERS_A_TOKEN >= GAIN * profile.tokens(newest.name)
    first = newest if pays or not dense else mode_named(newest.name, dense=True)
    return (first, *(mode_named(name, dense=dense) for name in names[1:]))
