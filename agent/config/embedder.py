"""The configured embedders, opened on first use.

A workspace that its owner has not trusted cannot name an embedder: its free-text settings are ignored.
"""

from functools import partial

from agent.config.config import Config
from memory.search.embedding import EmbedderSet
from models.embed.open import open_embedder
from models.embed.port import Embedder


def embedding_of(config: Config) -> EmbedderSet:
    """The present embedder and the previous one. Without a present one, vectors are switched off altogether."""
    configured = config.embed.embedder.strip()
    previous = config.embed.before if configured not in {"", "none"} else "none"
    return EmbedderSet(partial(_open, configured, config), partial(_open, previous, config))


def _open(name: str, config: Config) -> Embedder | None:
    return open_embedder(name, settings=config.embed, models=config.models, env=config.environment)
