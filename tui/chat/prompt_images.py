"""Images in the prompt: from the clipboard, from pasted paths, and opened again."""

import asyncio
import hashlib
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from agent.services.pasted_images import store_pasted_image
from context import load_attachment
from context.errors import BadAttachment
from foundation.errors import PalimpsestError
from foundation.paths import expand_home
from foundation.terminal_text import unescape_name
from tui.images.clipboard import MAX_BYTES, clipboard_image
from tui.internal_errors import in_thread
from tui.typed_app import app_of
from tui.widgets.prompt.chips import PastedImage

if TYPE_CHECKING:
    from tui.widgets.prompt.input import Prompt

MAX_MEASURED: Final = 200  # images of earlier prompts
CLIPBOARD_S: Final = 10.0  # seconds until a clipboard that does not answer is given up
_MENTIONED: Final = re.compile(r'(?<!\S)@"([^"\n]{1,1000}\.(?:png|jpe?g|gif|webp))"', re.IGNORECASE)


async def paste_from_clipboard(prompt: "Prompt", folder: Path | None) -> None:
    """Puts the clipboard's image into the prompt as a chip, or the text that was copied here.

    `folder` is where the image is stored, None before the memory is open.
    """
    if folder is None:
        prompt.notify("Memory is still opening. Images can be pasted after that.", timeout=5)
        return
    try:
        data = await asyncio.wait_for(in_thread(clipboard_image, os.environ), CLIPBOARD_S)
        image = await in_thread(_stored, data, folder) if data else None
    except TimeoutError:
        prompt.notify("The clipboard did not respond. Paste the path of the file instead.", severity="warning")
        return
    except PalimpsestError as error:
        if not prompt.paste_copied():
            _warn(prompt, error)
        return
    if image is not None:
        prompt.insert_images([image])
    elif not prompt.paste_copied():
        prompt.notify("The clipboard has no image. Paste text with your terminal's own key.", timeout=5, markup=False)


async def attach_paths(prompt: "Prompt", text: str, here: Path) -> None:
    """Puts a chip for each image whose path was pasted into the prompt; the text where it names no images."""
    paths = image_paths(text, here)
    try:
        images = [await in_thread(measured, path) for path in paths]
    except BadAttachment as error:
        _warn(prompt, error)
        images = []
    if images and all('"' not in image.path for image in images):
        prompt.insert_images(images)
    else:
        prompt.insert_folded(text)


def image_paths(text: str, here: Path) -> list[Path]:
    """The paths in a text as a terminal pastes them: quoted, escaped, or as addresses; one, or several with blanks."""
    text = text.strip()
    whole = _path_of(text, here)
    if whole is not None and whole.is_file():  # a name with blanks that were not escaped
        return [whole]
    try:
        parts = shlex.split(text)
    except ValueError:
        return []
    paths = [_path_of(part, here) for part in parts]
    return [path for path in paths if path is not None and path.is_file()] if None not in paths else []


def _path_of(text: str, here: Path) -> Path | None:
    try:
        if text.startswith("file://"):
            text = unquote(urlsplit(text).path)
        path = here / expand_home(text)
        return path if len(text) < MAX_PATH and "\0" not in text else None
    except (OSError, ValueError, RuntimeError):  # an unknown home folder
        return None


MAX_PATH: Final = 1_000


def measured(path: Path) -> PastedImage:
    """The image with its size. Blocks. Raises BadAttachment as sending it would."""
    from PIL import Image, UnidentifiedImageError

    attachment = load_attachment(path)
    if not attachment.is_picture:
        raise BadAttachment("Not an image", f"{path.name} is not a PNG, JPEG, GIF or WebP file.", "")
    try:
        with Image.open(path) as picture:
            return PastedImage(str(path), *picture.size)
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError, ValueError) as error:
        raise BadAttachment("Not an image", f"{path.name} cannot be read as an image: {error}.", "") from error


def _stored(data: bytes, folder: Path) -> PastedImage:
    """The image in a file that is named by its content. Blocks."""
    if len(data) > MAX_BYTES:
        raise BadAttachment("Too large to attach", f"The image is larger than {MAX_BYTES:,} bytes.", "Make it smaller.")
    return measured(store_pasted_image(folder, hashlib.sha256(data).hexdigest(), data))


def mentioned_images(texts: Iterable[str]) -> list[PastedImage]:
    """The images that these prompts attach and that still can be read. Blocks."""
    paths = dict.fromkeys(unescape_name(match) for text in texts for match in _MENTIONED.findall(text))
    images: list[PastedImage] = []
    for path in list(paths)[-MAX_MEASURED:]:
        try:
            images.append(measured(Path(path)))
        except (PalimpsestError, OSError, ValueError):
            continue  # its mention stays as it is
    return images


async def open_chip(prompt: "Prompt", content: str | PastedImage, pictures: str) -> None:
    """Shows what stands behind a chip. `pictures` is the setting screen.pictures."""
    if isinstance(content, PastedImage):
        from tui.passages.image_screen import ImageFileScreen

        await app_of(prompt).push_screen_wait(ImageFileScreen(Path(content.path), pictures))
        return
    from tui.passages.text_screen import TextScreen
    from tui.widgets.transcript.block import BlockText

    await app_of(prompt).push_screen_wait(TextScreen("Pasted text", lambda: BlockText(content)))


def _warn(prompt: "Prompt", error: PalimpsestError) -> None:
    text = f"{error.message} {error.hint}".strip()
    prompt.notify(text, title=error.title, severity="warning", timeout=8, markup=False)
