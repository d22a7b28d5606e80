"""What is said of a file that is no picture."""

import io

import pytest
from PIL import Image

from foundation.errors import PalimpsestError
from memory.pages.render.png import decode_grey
from models.ocr.picture import open_image


def _cut() -> bytes:
    file = io.BytesIO()
    Image.linear_gradient("L").save(file, "PNG", compress_level=0)
    return file.getvalue()[:30_000]


@pytest.mark.parametrize("read", [decode_grey, open_image])
@pytest.mark.parametrize(
    ("data", "said"), [(b"", "is empty"), (b"hello", "not an image in a supported format"), (_cut(), "is incomplete")]
)
def test_a_file_that_is_no_picture_is_told_in_a_plain_sentence(read: object, data: bytes, said: str) -> None:
    assert callable(read)
    with pytest.raises(PalimpsestError) as raised:
        read(data)
    assert said in raised.value.message
    assert "0x" not in raised.value.message
    assert "BytesIO" not in raised.value.message
