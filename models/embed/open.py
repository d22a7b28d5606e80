"""Opens an embedder by name. Light: imports and sends nothing before the first text."""

from collections.abc import Mapping

from models.chat.spec import address_of, key_of
from models.embed.port import Embedder
from models.embed.settings import EmbedSettings
from models.embed.spec import parse_embedder
from models.settings import ModelSettings


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
