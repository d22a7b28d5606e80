"""What was forgotten here, as an import asks for it: entries that stay out, and names without forgotten words."""

from datetime import datetime
from functools import cached_property
from itertools import product
from typing import Final

from foundation.clock import to_ms
from foundation.privacy import Cleared, TextSource, clear
from memory.conversations import Conversations
from memory.forgotten.earlier import ForgottenEarlier
from memory.forgotten.tombstones import ForgottenName

_MOST_KEPT: Final = 10_000  # titles and speakers


class ForgottenHere:
    """For one import. Nothing but the size of a file is looked at where nothing was ever forgotten."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
        self._tombstones = conversations.tombstones
        self._names: dict[tuple[str, bool], Cleared] = {}
        self._spoken: dict[tuple[str, datetime | None], Cleared] = {}

    @cached_property
    def _earlier(self) -> ForgottenEarlier:
        return self._conversations.forgotten_earlier()

    def conversation(self, id_: Cleared) -> Cleared:
        """The id under which the conversation of this id in a file is here."""
        return self._known(id_, is_source=False)

    def source(self, source: Cleared) -> Cleared:
        """The same of a source."""
        return self._known(source, is_source=True)

    def _known(self, name: Cleared, *, is_source: bool) -> Cleared:
        if (name, is_source) not in self._names:  # the same for all of an import, also beside a forgetting
            self._names[name, is_source] = self._tombstones.known_name(name, is_source=is_source)
        return self._names[name, is_source]

    def has_entry(self, source: Cleared, conversation: Cleared, entry: str) -> bool:
        """Whether the entry of these names in a file was forgotten, under the names of before or of now."""
        if not self._tombstones.all():
            return False
        sources, conversations = {source, self.source(source)}, {conversation, self.conversation(conversation)}
        names = product(sources, conversations)
        return any(self._tombstones.has(ForgottenName(*name, entry)) for name in names)

    def has_text(self, text: str, time: datetime | None) -> bool:
        """Whether an entry of this text was forgotten at that moment or later."""
        if not self._tombstones.all():
            return False
        return self._tombstones.has_text(clear(text, TextSource.OTHER), to_ms(time) if time else 0)

    def has_words(self, text: str, time: datetime | None) -> bool:
        """Whether a text of that moment holds words that were forgotten later."""
        if not self._tombstones.all():
            return False
        return self._earlier.words(to_ms(time) if time else 0).holds(text.encode("utf-8", "surrogatepass"))

    def without_words(self, name: str, time: datetime | None) -> Cleared:
        """A title or a speaker of that moment, cleared, without words that were forgotten later."""
        if not name or not self._tombstones.all():
            return clear(name, TextSource.OTHER)
        if (name, time) not in self._spoken:
            self._spoken = self._spoken if len(self._spoken) < _MOST_KEPT else {}
            said = self._earlier.without(name, to_ms(time) if time else 0)
            self._spoken[name, time] = clear(said, TextSource.OTHER)
        return self._spoken[name, time]
