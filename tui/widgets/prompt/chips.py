"""Chips: placeholders in a prompt for long pasted texts and for images."""

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from agent.services.drafts import PASTE_BEGINS, PASTE_ENDS
from foundation.terminal_text import escape_name, visible, visible_line
from models.excerpts import line_count, paste_name

MAX_PASTE_CHARS: Final = 1_000
MAX_PASTE_LINES: Final = 15
MAX_PLAIN_CHARS: Final = 10_000  # of a message from the history that is not folded
MAX_PLAIN_LINES: Final = 100
MAX_NAME: Final = 40  # characters of an image's name in its chip
MAX_PATHS: Final = 4_000  # characters of the paths that a terminal pastes
_PATHS: Final = re.compile(r"(?:['\"]|file://|~?/|[A-Za-z]:[\\/])[^\n]*\.(?:png|jpe?g|gif|webp)['\"]?", re.IGNORECASE)
_CHIP: Final = re.compile(r"\[(Pasted text|Output of [^\]\n]{1,50}?|Image) #(\d{1,9}) · [^\]\n]{1,200}\]")


class PastedImage(Struct, frozen=True):
    """An image file that a prompt attaches; `width` and `height` in pixels."""

    path: str
    width: int
    height: int

    @property
    def mention(self) -> str:
        """The image as it is written in the message that is sent."""
        return f'@"{escape_name(self.path)}"'

    @property
    def label(self) -> str:
        """`photo.png · 1,200×800`."""
        name = visible_line(self.path.replace("\\", "/").rpartition("/")[2]).translate(_NO_BRACKETS)
        name = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
        return f"{name} · {self.width:,}×{self.height:,}"


_NO_BRACKETS: Final = str.maketrans("[]", "()")


class ChipBuffer:
    """What stands behind the chips of one prompt."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._images: dict[int, PastedImage] = {}

    def fold(self, text: str) -> str:
        """The text for the prompt: the text itself, or a chip if it is long."""
        if len(text) <= MAX_PASTE_CHARS and text.count("\n") < MAX_PASTE_LINES:
            return text
        number = len(self._texts) + 1
        self._texts[number] = text
        lines = line_count(text)
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        return f"[{visible(paste_name(text))} #{number} · {size}]"

    def fold_image(self, image: PastedImage) -> str:
        """A chip for the image."""
        number = next((number for number, known in self._images.items() if known == image), len(self._images) + 1)
        self._images[number] = image
        return f"[Image #{number} · {image.label}]"

    def refold(self, text: str, pastes: Iterable[str], images: Iterable[PastedImage] = ()) -> str:
        """A whole message, with the images and long texts that were pasted into it folded again; if none is known, all
        of it.
        """
        for image in images:
            if image.mention in text:
                text = text.replace(image.mention, self.fold_image(image))
        for paste in pastes:
            if paste in text and (folded := self.fold(paste)) != paste:
                text = text.replace(paste, folded, 1)
        is_long = len(text) > MAX_PLAIN_CHARS or text.count("\n") >= MAX_PLAIN_LINES
        return self.fold(text) if is_long else text

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts behind all chips."""
        return tuple(self._texts.values())

    @property
    def images(self) -> tuple[PastedImage, ...]:
        """The images behind all chips."""
        return tuple(self._images.values())

    def chip_of(self, text: str, prompt: str) -> tuple[int, int] | None:
        """The span of this text's chip in the prompt: pasting a text again unfolds it."""
        for match in _CHIP.finditer(prompt):
            if self._content(match) == text:
                return match.span()
        return None

    def chip_at(self, line: str, column: int) -> str | PastedImage | None:
        """What stands behind the chip that the cursor is on or right behind."""
        for match in _CHIP.finditer(line):
            if match.start() <= column <= match.end() and (content := self._content(match)) is not None:
                return content
        return None

    def unfold(self, prompt: str) -> str:
        """The prompt with every chip replaced by its text or its mention; unknown chips stay."""
        return self._unfolded(prompt, "", "")

    def unfold_for_draft(self, prompt: str) -> str:
        """The same, with marks around the pasted texts; `Drafts` reads them."""
        return self._unfolded(prompt, PASTE_BEGINS, PASTE_ENDS)

    def _unfolded(self, prompt: str, begin: str, end: str) -> str:
        def unfolded(match: re.Match[str]) -> str:
            content = self._content(match)
            if isinstance(content, PastedImage):  # a mention begins a word
                is_apart = not match.start() or prompt[match.start() - 1].isspace()
                return content.mention if is_apart else f" {content.mention}"
            return match[0] if content is None else f"{begin}{content}{end}"

        return _CHIP.sub(unfolded, prompt)

    def _content(self, match: re.Match[str]) -> str | PastedImage | None:
        number = int(match[2])
        return self._images.get(number) if match[1] == "Image" else self._texts.get(number)


def may_be_image_paths(text: str) -> bool:
    """Whether a pasted text looks like the paths of images: quoted, escaped, or the address of a file."""
    return len(text) <= MAX_PATHS and _PATHS.fullmatch(text.strip()) is not None
