"""Printed words, for engines to read."""

from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

FERRY = ("The ferry leaves at 09:40", "Gate B22, bring a scarf.")


def printed(*lines: str, size: int = 32) -> bytes:
    """The lines, black on white, in Pillow's own font."""
    picture = Image.new("RGB", (640, 40 + 70 * len(lines)), "white")
    draw = ImageDraw.Draw(picture)
    for n, words in enumerate(lines):
        draw.text((20, 20 + 70 * n), words, fill="black", font=ImageFont.load_default(size))
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def crop(words: str) -> bytes:
    """One line, 640×44 pixels, with nothing above or below."""
    with Image.open(BytesIO(printed(words))) as picture:
        line = picture.crop((0, 16, 640, 60))
    file = BytesIO()
    line.save(file, "PNG")
    return file.getvalue()


def small(words: str) -> bytes:
    """A line on 320×80 pixels: the least work for a vision model."""
    picture = Image.new("RGB", (320, 80), "white")
    ImageDraw.Draw(picture).text((10, 20), words, fill="black", font=ImageFont.load_default(32))
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()
