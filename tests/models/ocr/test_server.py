"""A vision server as an OCR engine: a real mlx_vlm.server that sees, and a scripted one for what goes wrong."""

import base64
from io import BytesIO

import pytest
from msgspec.structs import replace
from PIL import Image, ImageChops

from foundation.errors import Misuse
from models.errors import ModelError, UnreadableImage
from models.ocr.server import PROMPT, VisionServer
from models.settings import ModelSettings
from tests.loopback import Cut, Loopback, chat, chat_bytes, json_reply, stream
from tests.models.ocr.images import small
from tests.servers import LlamaServer

PAGE = small("any words")


def engine_at(loopback: Loopback, settings: ModelSettings) -> VisionServer:
    return VisionServer(f"openai:seer@{loopback.address}/v1", settings=replace(settings, retries=0))


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_real_server_is_shown_the_picture_and_its_words_come_back(vision_server: LlamaServer) -> None:
    found = VisionServer(vision_server.spec).read(PAGE)
    assert (found.engine, found.text, found.warnings) == ("server", vision_server.reply, ())


def test_the_very_picture_is_sent_with_the_question(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.plays(chat("Hello ", "Ann."))
    assert engine_at(loopback, hasty).read(PAGE).text == "Hello Ann."
    (sent,) = loopback.posts
    picture, question = sent.json["messages"][-1]["content"]
    assert question == {"type": "text", "text": PROMPT}
    kind, _, data = picture["image_url"]["url"].partition(",")
    assert kind == "data:image/png;base64"
    with Image.open(BytesIO(base64.b64decode(data))) as seen, Image.open(BytesIO(PAGE)) as shown:
        assert ImageChops.difference(seen.convert("RGB"), shown).getbbox() is None
    assert (sent.json["model"], sent.json["temperature"]) == ("seer", 0.0)


def test_a_picture_of_another_kind_goes_as_png(loopback: Loopback, hasty: ModelSettings) -> None:
    file = BytesIO()
    Image.new("L", (40, 40), 200).save(file, "TIFF")
    loopback.plays(chat("x"))
    engine_at(loopback, hasty).read(file.getvalue())
    assert "data:image/png;base64," in loopback.posts[0].json["messages"][-1]["content"][0]["image_url"]["url"]


async def test_it_may_be_asked_where_a_loop_runs(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.plays(chat("Hello."))
    assert engine_at(loopback, hasty).read(PAGE).text == "Hello."


def test_a_text_that_is_cut_off_says_so(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.plays(chat("Hello", finish="length"))
    (told,) = engine_at(loopback, hasty).read(PAGE).warnings
    assert "cut off" in told


def test_a_server_that_goes_on_without_end_is_left(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.plays(chat("Dear Ann,", *["\nAll work and no play."] * 5_000))
    found = engine_at(loopback, hasty).read(PAGE)
    assert found.text == "Dear Ann,\nAll work and no play."
    assert "did not stop" in found.warnings[0]


def test_a_server_that_never_repeats_is_left_too(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.plays(chat(*[f"{n}, " for n in range(40_000)]))
    found = engine_at(loopback, hasty).read(PAGE)
    assert len(found.text) <= 100_000
    assert "did not stop" in found.warnings[0]


def test_what_a_server_refuses_is_told_in_its_words(loopback: Loopback, hasty: ModelSettings) -> None:
    loopback.plays(json_reply({"error": {"message": "this model sees no images"}}, status=400))
    with pytest.raises(ModelError, match="sees no images"):
        engine_at(loopback, hasty).read(PAGE)


def test_half_a_text_is_no_text(loopback: Loopback, hasty: ModelSettings) -> None:
    whole = chat_bytes("Dear ", "Ann")
    loopback.plays(stream(whole[: len(whole) // 2], Cut(reset=True)))
    with pytest.raises(ModelError):
        engine_at(loopback, hasty).read(PAGE)


def test_without_an_address_the_setting_is_named() -> None:
    with pytest.raises(Misuse) as raised:
        VisionServer("").read(PAGE)
    assert "models.ocr_server" in raised.value.hint


def test_what_is_no_picture_is_never_sent(loopback: Loopback, hasty: ModelSettings) -> None:
    with pytest.raises(UnreadableImage):
        engine_at(loopback, hasty).read(b"not a picture")
    assert loopback.posts == []
