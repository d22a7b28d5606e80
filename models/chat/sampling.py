"""Sampling of a model on this machine or in a private network, if neither the user nor the server's owner chose any.

Servers default to a temperature of 0.8 to 1.0, at which models of some billion parameters write broken JSON and loops.
A large model keeps what its maker or its server recommends.
"""

from typing import Final

from foundation.bounded_json import Json
from models.chat.port import ModelSize, Profile
from models.chat.spec import is_near

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


def local_sampling(profile: Profile, server: str, address: str) -> Json:
    """Returns the sampling fields of a request to this kind of server; {} for a large model and a public address.

    A server of an unknown kind may forward to a large model elsewhere, so only a model known to be small gets them.
    """
    is_known = server in _PENALTY_NAMES
    if profile.size is ModelSize.LARGE or not (is_known or profile.is_small) or not is_near(address):
        return {}
    fields: Json = {"temperature": TEMPERATURE, "top_p": TOP_P}
    penalty = _PENALTY_NAMES.get(server, "")
    return fields | {penalty: REPETITION_PENALTY} if penalty else fields
