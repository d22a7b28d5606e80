"""DeepSeek-OCR through the real mlx-vlm, with tiny checkpoints: loading, sizes, bounds, and code that stays put."""

import json
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from models.errors import MissingLibrary, ModelError
from models.mlx_thread import JobPriority, mlx_thread
from models.ocr.checkpoints import find_checkpoint
from models.ocr.deepseek import PROMPTS, REPEATS, DeepSeek, OcrChunk, resolution, strip_markers
from tests.models.ocr.images import small

REPLY = "The ferry leaves at 09:40 from gate B22."
PAGE = small("any words")


# What a folder tells.


def folder_with(folder: Path, config: dict[str, object], *files: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    for name in ("model.safetensors", *files):
        (folder / name).write_text("")
    return folder


TWO, ONE = {"model_type": "deepseekocr_2"}, {"model_type": "deepseekocr"}


def test_it_is_found_where_lm_studio_puts_it(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / ".lmstudio/models/mlx-community/DeepSeek-OCR-2-bf16", TWO)
    found = find_checkpoint("", {"HOME": str(tmp_path)})
    assert found is not None
    assert (found.folder, found.version, found.window, found.code) == (folder, 2, 8192, ())


def test_it_is_found_in_the_hubs_cache(tmp_path: Path) -> None:
    name = "models--mlx-community--DeepSeek-OCR-8bit/snapshots/0f3a"
    folder = folder_with(tmp_path / "hub" / name, {**ONE, "language_config": {"max_position_embeddings": 4096}})
    for env in ({"HF_HUB_CACHE": str(tmp_path / "hub")}, {"HF_HOME": str(tmp_path)}):
        found = find_checkpoint("", {"HOME": str(tmp_path / "nobody"), **env})
        assert found is not None
        assert (found.folder, found.version, found.window) == (folder, 1, 4096)


def test_the_second_version_and_full_precision_go_first(tmp_path: Path) -> None:
    models = tmp_path / ".lmstudio/models"
    folder_with(models / "a/DeepSeek-OCR-bf16", ONE)
    folder_with(models / "a/DeepSeek-OCR-2-4bit", {**TWO, "quantization": {"bits": 4}})
    best = folder_with(models / "b/DeepSeek-OCR-2-bf16", TWO)
    folder_with(models / "b/DeepSeek-OCR-2-other", {"model_type": "llama"})
    found = find_checkpoint("", {"HOME": str(tmp_path)})
    assert found is not None
    assert found.folder == best


def test_where_there_is_none_one_command_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as raised:
        DeepSeek(env={"HOME": str(tmp_path)}).read(PAGE)
    assert "hf download mlx-community/DeepSeek-OCR-2-bf16" in raised.value.hint


@pytest.mark.parametrize(
    ("version", "size", "side", "keywords"),
    [
        (1, "tiny", 0, {"cropping": False, "base_size": 512, "image_size": 512}),
        (1, "auto", 640, {"cropping": False, "base_size": 640, "image_size": 640}),
        (1, "auto", 1280, {"cropping": False, "base_size": 1280, "image_size": 1280}),
        (1, "auto", 3000, {"cropping": True}),
        (2, "auto", 1024, {"cropping": False}),
        (2, "auto", 1280, {"cropping": True}),
        (2, "tiles", 300, {"cropping": True}),
    ],
)
def test_a_size_is_keywords_of_generate(version: int, size: str, side: int, keywords: dict[str, object]) -> None:
    assert resolution(version, size, side) == keywords


def test_every_prompt_ends_in_the_blank_that_is_dropped() -> None:
    assert all(prompt.startswith("<image>\n") and prompt.endswith(" ") for prompt in PROMPTS.values())


def test_where_words_stood_is_left_out() -> None:
    place = "<|det|>[[1, 2, 3, 4]]<|/det|>\n"
    said = f"<|ref|>title<|/ref|>{place}# Ferries\n\n<|ref|>text<|/ref|>{place}At 09:40.<｜end▁of▁sentence｜>"
    assert strip_markers(said) == "# Ferries\n\nAt 09:40."


# Through the real mlx-vlm.


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlx_vlm", reason="mlx-vlm has no build for this platform")


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: None):
    """Makes tiny checkpoints: `make(reply, version=1, loops=False)`."""
    from tests.scripted_vision_models import scripted_deepseek_ocr, shrink_deepseek_ocr

    def made(reply: str | None, *, version: int = 1, loops: bool = False) -> Path:
        shrink_deepseek_ocr(version, monkeypatch)
        return scripted_deepseek_ocr(tmp_path / f"ocr-{version}", reply, version=version, loops=loops)

    return made


pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]  # the first import of mlx-vlm takes seconds


@pytest.mark.parametrize("version", [1, 2])
def test_a_picture_is_read(make, version: int, capfd: pytest.CaptureFixture[str]) -> None:
    engine = DeepSeek(str(make(REPLY, version=version)))
    found = engine.read(PAGE)
    assert (found.engine, found.text, found.warnings) == ("deepseek", REPLY, ())
    assert capfd.readouterr() == ("", "")  # mlx-vlm prints to both


def test_it_lives_on_the_mlx_thread(make, monkeypatch: pytest.MonkeyPatch) -> None:
    from models.ocr.deepseek import DeepSeekEngine

    seen: list[str] = []
    load = DeepSeekEngine.__init__

    def spied(self: DeepSeekEngine, *given: object, **named: object) -> None:
        seen.append(threading.current_thread().name)
        load(self, *given, **named)

    monkeypatch.setattr(DeepSeekEngine, "__init__", spied)
    engine = DeepSeek(str(make(REPLY)))
    assert engine.read(PAGE).text == engine.read(PAGE).text == REPLY
    assert seen == ["mlx"]


def test_a_text_that_is_cut_off_says_so(make) -> None:
    found = DeepSeek(str(make(REPLY)), most=4).read(PAGE)
    assert found.text == "The ferry leaves at"
    assert found.warnings == ("The text was cut off at 4 tokens: the image contains more.",)


def test_an_endless_repetition_is_stopped_and_told(make) -> None:
    found = DeepSeek(str(make(" All work and no play.", loops=True))).read(PAGE)
    assert found.warnings == (REPEATS,)
    assert found.text.startswith("All work and no play.")
    assert len(found.text) < 100


def test_random_weights_end_too(make) -> None:
    found = DeepSeek(str(make(None)), most=24).read(PAGE)
    assert found.warnings == ("The text was cut off at 24 tokens: the image contains more.",) or len(found.text) < 200


def test_whoever_leaves_stops_the_model(make, monkeypatch: pytest.MonkeyPatch) -> None:
    from models.ocr.deepseek import DeepSeekEngine

    words = list[str]()
    read = DeepSeekEngine.read

    def counted(self: DeepSeekEngine, *given: object, **named: object) -> Iterator[OcrChunk]:
        for piece in read(self, *given, **named):
            words.append(piece.text)
            yield piece

    monkeypatch.setattr(DeepSeekEngine, "read", counted)
    monkeypatch.setattr("models.ocr.deepseek.loop_at", lambda _: None)
    waited = Future.result
    with monkeypatch.context() as impatient, pytest.raises(TimeoutError):
        impatient.setattr(Future, "result", lambda self, timeout=None: waited(self, 0.5))
        DeepSeek(str(make("tick tock", loops=True))).read(PAGE)
    assert mlx_thread().run(JobPriority.OCR, lambda: "free").result(60) == "free"
    assert len(words) < 3_000  # of 7,000 that it would have said


# A checkpoint's own Python.


def marked(folder: Path, name: str = "own.py") -> Path:
    """Python that leaves a mark where it is run."""
    mark = folder / "it-ran"
    (folder / name).write_text(
        f"from pathlib import Path\nPath({str(mark)!r}).touch()\nfrom mlx_vlm.models.deepseekocr import *\n"
    )
    return mark


def with_model_file(folder: Path) -> Path:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_file": "own.py"}))
    return marked(folder)


def test_a_checkpoints_own_python_is_refused_before_anything_is_loaded(make) -> None:
    folder = make(REPLY)
    mark = with_model_file(folder)
    with pytest.raises(ModelError, match=r"own\.py") as raised:
        DeepSeek(str(folder)).read(PAGE)
    assert "models.run_checkpoint_code" in raised.value.hint
    assert not mark.exists()


def test_a_person_is_asked_and_their_no_counts(make) -> None:
    folder = make(REPLY)
    mark = with_model_file(folder)
    asked: list[tuple[Path, tuple[str, ...]]] = []

    def no(where: Path, code: object) -> bool:
        asked.append((where, tuple(code)))
        return False

    with pytest.raises(ModelError):
        DeepSeek(str(folder), consent=no).read(PAGE)
    assert asked == [(folder, ("own.py",))]
    assert not mark.exists()


def test_with_a_yes_it_runs(make) -> None:
    folder = make(REPLY)
    mark = with_model_file(folder)
    assert DeepSeek(str(folder), consent=lambda *_: True).read(PAGE).text == REPLY
    assert mark.exists()


def test_python_that_only_lies_there_is_left_alone(make) -> None:
    folder = make(REPLY)
    mark = marked(folder)
    for name in ("config.json", "tokenizer_config.json"):
        config = json.loads((folder / name).read_text())
        kinds = {"AutoConfig": "own.Own", "AutoTokenizer": ["own.Own", "own.Own"], "AutoModel": "own.Own"}
        (folder / name).write_text(json.dumps({**config, "auto_map": kinds}))
    try:
        assert DeepSeek(str(folder)).read(PAGE).text == REPLY
    except ModelError as error:
        assert "was not run" in error.message
    assert not mark.exists()


def test_a_broken_folder_is_said(make) -> None:
    folder = make(REPLY)
    (folder / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(ModelError, match=str(folder.name)):
        DeepSeek(str(folder)).read(PAGE)


def test_without_the_library_one_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mlx_vlm", None)
    folder = folder_with(tmp_path / "ocr", TWO)
    with pytest.raises(MissingLibrary) as raised:
        DeepSeek(str(folder)).read(PAGE)
    assert "palimpsest-shell[" in raised.value.hint or os.name == "nt"
