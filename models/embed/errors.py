"""Errors of embedding."""

from models.errors import ModelError


class EmbedError(ModelError):
    """No vector. `passing`: a later try with the same text may succeed (the server is down, or busy).

    `of_text`: the text is the cause, and another would get its vector.
    """

    code = "embedding"

    def __init__(
        self, title: str, message: str, hint: str = "", *, passing: bool = False, of_text: bool = False
    ) -> None:
        super().__init__(title, message, hint)
        self.passing = passing
        self.of_text = of_text


def bad_vectors(source: str, problem: str) -> EmbedError:
    """The error for vectors of `source` that cannot be searched."""
    return EmbedError(
        "No usable vectors",
        f"{source} {problem}.",
        "Check that this is an embedding model and that its files are complete.",
    )


def bad_vector_of_text(source: str, problem: str) -> EmbedError:
    """The same, where another text may succeed."""
    return EmbedError(
        "No usable vector", f"{source} {problem}.", "The entry can still be found by its words.", of_text=True
    )
