"""Opens an embedder by name. Light: imports and sends nothing before the first text."""

from collections.abc import Mapping

from foundation.errors import Misuse
from models.chat.spec import ModelSpec, address_of, key_of, parse_spec
from models.embed.port import Embedder
from models.embed.settings import EmbedSettings
from models.settings import ModelSettings

SERVERS = ("openai", "ollama", "lmstudio", "llamacpp")
NONE = "none"
FORMS = (
    "An embedder is named as `none`, `ollama:nomic-embed-text`, `lmstudio:NAME`, `llamacpp:NAME`, "
    "`openai:NAME@http://127.0.0.1:8080/v1`, `onnx:FOLDER` or `mlx:FOLDER-OR-HUB-NAME`."
)


def open_embedder(
    name: str, *, settings: EmbedSettings, models: ModelSettings, env: Mapping[str, str]
) -> Embedder | None:
    """The embedder of this name; None for `none`. Raises Misuse for an invalid name, EmbedError for a missing
    folder."""
    spec = parse_embedder(name)
    if spec is None:
        return None
    match spec.provider:
        case "onnx":
            from models.embed.onnx import OnnxEmbedder

            return OnnxEmbedder(spec.name, settings)
        case "mlx":
            from models.embed.mlx import MlxEmbedder

            return MlxEmbedder(spec.name, settings)
        case _:
            from models.embed.server import ServerEmbedder

            return ServerEmbedder(
                spec, address=address_of(spec, env), key=key_of(spec, env), settings=settings, models=models
            )


def parse_embedder(text: str) -> ModelSpec | None:
    """The parsed name of an embedder; None for `none` or nothing. Raises Misuse where it names no embedder.

    The forms are `none`, `provider:name[@address]` as for a chat model, and `onnx:FOLDER`.
    """
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
