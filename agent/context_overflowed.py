"""Event: the server rejected the request as too long."""

from msgspec import Struct


class ContextOverflowed(Struct, frozen=True):
    """The server rejected the request as too long; it is made smaller and sent once more.

    `window`: what is taken as the model's window from now on; `stated`: the server named it, else it is a step down.
    `assumed`: the window before. `prompt_tokens` of the rejected request: as the server counted it where it did.
    `advice`: how long the window holds, and how to go back.
    """

    window: int
    assumed: int
    prompt_tokens: int
    stated: bool
    advice: str = ""

    @property
    def text(self) -> str:
        size = f"The request of {self.prompt_tokens:,} tokens did not fit the server's context"
        if not self.stated:
            sentence = f"{size}, whose size is unknown. Using {self.window:,} tokens and sending again."
        elif self.window < self.assumed:
            sentence = (
                f"{size} of {self.window:,} tokens ({self.assumed:,} were assumed). Shortening the "
                "request and sending again."
            )
        else:
            sentence = (
                f"{size} of {self.window:,} tokens, because its size was underestimated. Shortening "
                "the request and sending again."
            )
        return f"{sentence} {self.advice}".rstrip()
