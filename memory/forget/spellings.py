"""How a phrase is written where it was found: in another case, width or script, with other accents or white space,
behind the escapes of JSON."""

from foundation.text.folding import fold
from memory.forget.escapes import unescaped
from memory.forget.pieces import phrase_pattern


class Spellings:
    """Finds one phrase, and keeps each way in which it was written. `all` begins with the phrase itself."""

    def __init__(self, phrase: str) -> None:
        self._pattern = phrase_pattern(phrase)
        self._longest = max(fold(phrase).split(), key=len)
        self.all: dict[str, None] = {phrase: None}

    def note(self, text: str) -> bool:
        """Whether the text holds the phrase, as it is or behind the escapes of JSON in it."""
        hits = [hit for read in (text, *unescaped(text)) for hit in self._hits(read)]
        self.all.update(dict.fromkeys(hits))
        return bool(hits)

    def note_bytes(self, raw: bytes) -> bool:
        """The same for bytes, in UTF-8 or UTF-16."""
        encoded = [raw.decode("utf-8", "replace")]
        if b"\0" in raw:
            encoded += [part.decode("utf-16-le", "replace") for part in (raw, raw[1:])]
        hits = [self.note(text) for text in encoded]
        return any(hits)

    def _hits(self, text: str) -> list[str]:
        """What the pattern finds; most text is ASCII, of which a plain look is many times faster."""
        if text.isascii() and self._longest not in text.lower():
            return []
        return self._pattern.findall(text)
