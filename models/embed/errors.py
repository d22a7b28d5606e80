"""What can go wrong where a text is to become a vector."""

from models.errors import ModelError


class EmbedError(ModelError):
    """No vector. `passing`: asked again later, the same text may well get one (the server is down, or busy).

    `of_text`: it lies at the text, and another would get its vector.
    """

    code = "embedding"

    def __init__(
        self, title: str, message: str, hint: str = "", *, passing: bool = False, of_text: bool = False
    ) -> None:
        super().__init__(title, message, hint)
        self.passing = passing
        self.of_text = of_text


def bad_vectors(who: str, what: str) -> EmbedError:
    """`who` gave something that cannot be searched with."""
    return EmbedError(
        "No usable vectors",
        f"{who} {what}.",
        "Look whether this is a model for embeddings, and whether it is whole.",
    )


def bad_vector_of_text(who: str, what: str) -> EmbedError:
    """The same, where another text may fare better."""
    return EmbedError("No usable vector", f"{who} {what}.", "The entry is found by its words.", of_text=True)
