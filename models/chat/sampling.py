"""Sampling of a model on this machine, if neither the user nor the server's owner chose any.

Servers default to a temperature of 0.8 to 1.0, at which models of some billion parameters write broken JSON and loops.
A large model keeps what its maker or its server recommends.
"""

from typing import Final

from foundation.bounded_json import Json
from models.chat.port import ModelSize, Profile

TEMPERATURE: Final = 0.3
TOP_P: Final = 0.9
REPETITION_PENALTY: Final = 1.05
_PENALTY_NAMES: Final = {
    "llamacpp": "repeat_penalty",
    "lmstudio": "repeat_penalty",
    "mlx_lm": "repetition_penalty",
    "mlx_vlm": "repetition_penalty",
    "ollama": "",  # its OpenAI endpoint takes none
}


def local_sampling(profile: Profile, server: str) -> Json:
    """The sampling fields of a request to a local server of this kind; {} for a large model and other servers."""
    if profile.remote or profile.size is ModelSize.LARGE or server not in _PENALTY_NAMES:
        return {}
    fields: Json = {"temperature": TEMPERATURE, "top_p": TOP_P}
    penalty = _PENALTY_NAMES[server]
    return fields | {penalty: REPETITION_PENALTY} if penalty else fields
