"""Size of a model by its name, and what the user's settings say of a model."""

import re
from fnmatch import fnmatchcase
from typing import Final

from models.chat.port import Profile
from models.settings import ModelSettings, ProfileOverride

_SIZE: Final = re.compile(r"(?<![a-z0-9.])(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,2})?)([bm])(?![a-z0-9])", re.IGNORECASE)
_NOTHING: Final = ProfileOverride()


def parameters_by_name(name: str) -> float | None:
    """Billions of parameters in a name: 0.5 of `qwen2.5-coder-0.5b`, 56 of `mixtral-8x7b`; None if it has none."""
    if (match := _SIZE.search(name)) is None:
        return None
    billions = float(match[2]) * int(match[1] or 1) / (1 if match[3] in "bB" else 1_000)
    return billions or None


def override_for(profile: Profile, settings: ModelSettings) -> ProfileOverride:
    """The first entry of `models.profiles` whose pattern is, or matches, one of the model's names."""
    names = {profile.spec, profile.name, profile.known_as} - {""}
    for pattern, override in settings.profiles.items():
        if pattern in names or any(fnmatchcase(name, pattern) for name in names):
            return override
    return _NOTHING
