"""What embeds, by the configuration: opened when it is first needed.

A workspace that its owner has not trusted cannot name an embedder: whatever is free text there is ignored.
"""

from functools import partial

from agent.config import Config
from memory.search.vectors.embedding import Embedding
from models.embed.port import Embedder


def embedding_of(config: Config) -> Embedding:
    """What is set now, and what was set before it."""
    return Embedding(partial(_opened, config.embed.embedder, config), partial(_opened, config.embed.before, config))


def _opened(name: str, config: Config) -> Embedder | None:
    from models.embed.open import open_embedder

    return open_embedder(name, settings=config.embed, models=config.models, env=config.environment)
