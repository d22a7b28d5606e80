"""What embeds, by the configuration: opened when it is first needed.

A workspace that its owner has not trusted cannot name an embedder: whatever is free text there is ignored.
"""

from functools import partial

from agent.config.config import Config
from memory.search.embedding import EmbedderSet
from models.embed.port import Embedder


def embedding_of(config: Config) -> EmbedderSet:
    """What is set now, and what was set before it. Where none is set it was switched off, and no vectors serve."""
    named = config.embed.embedder.strip()
    before = config.embed.before if named not in {"", "none"} else "none"
    return EmbedderSet(partial(_opened, named, config), partial(_opened, before, config))


def _opened(name: str, config: Config) -> Embedder | None:
    from models.embed.open import open_embedder

    return open_embedder(name, settings=config.embed, models=config.models, env=config.environment)
