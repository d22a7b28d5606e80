"""How a user names an embedder: `none`, or `provider:name[@address]` as for a chat model, or a folder."""

from foundation.errors import Misuse
from models.chat.spec import ModelSpec, parse_spec

SERVERS = ("openai", "ollama", "lmstudio", "llamacpp")
NONE = "none"
FORMS = (
    "An embedder is named as `none`, `ollama:nomic-embed-text`, `lmstudio:NAME`, `llamacpp:NAME`, "
    "`openai:NAME@http://127.0.0.1:8080/v1`, `onnx:FOLDER` or `mlx:FOLDER-OR-HUB-NAME`."
)


def parse_embedder(text: str) -> ModelSpec | None:
    """The parsed name; None for `none` or nothing. Raises Misuse where it names no embedder."""
    text = text.strip()
    if text in {"", NONE}:
        return None
    provider, _, rest = text.partition(":")
    if provider == "onnx":
        if not rest.strip():
            raise Misuse("Which folder?", f"`{text}` names no folder.", FORMS)
        return ModelSpec(provider, rest.strip())
    if provider not in {*SERVERS, "mlx"}:
        raise Misuse("No such embedder", f"`{text}` does not name an embedder.", FORMS)
    return parse_spec(text)
