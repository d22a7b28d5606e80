"""Tesseract through tesserocr: a page in seconds, good on print. Behind the extra `tesseract`.

The library comes in the wheel; what it knows of a language (`eng.traineddata`, …) does not, and is looked for where
Debian, Homebrew, MacPorts and Windows put it. Every language of `LANGUAGES` that is there reads.
"""

import importlib
import os
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foundation.install_hints import install_extra
from models.errors import MissingLibrary
from models.ocr.picture import open_image
from models.ocr.port import OcrLine, OcrReading
from models.quiet import quiet

LANGUAGES = ("eng", "chi_sim")
LINE_HEIGHT = 32  # pixels: what Tesseract's own line model takes well; ours are 16 and 12


class Tesseract:
    """Loads its data with the first picture."""

    name = "tesseract"
    lines = True

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = env
        self._api: Any = None
        self._library: Any = None
        self._lock = threading.Lock()

    def read(self, image: bytes) -> OcrReading:
        picture = open_image(image)
        with self._lock, quiet(deque[str](maxlen=20)):
            api = self._loaded()
            api.SetPageSegMode(self._library.PSM.AUTO)
            api.SetImage(picture)
            api.Recognize()
            lines = tuple(self._each_line(api))
            api.Clear()
        return OcrReading(self.name, lines)

    def read_lines(self, images: Sequence[bytes]) -> list[OcrLine]:
        results = list[OcrLine]()
        with self._lock, quiet(deque[str](maxlen=20)):
            api = self._loaded()
            api.SetPageSegMode(self._library.PSM.SINGLE_LINE)
            for image in images:
                picture = open_image(image)
                width, height = picture.size
                if height < LINE_HEIGHT:
                    scale = LINE_HEIGHT / height
                    picture = picture.resize((max(1, round(width * scale)), LINE_HEIGHT), 3)  # bicubic
                api.SetImage(picture)
                words = str(api.GetUTF8Text()).strip("\n").replace("\n", " ")
                results.append(OcrLine(words, (0.0, 0.0, float(width), float(height)), api.MeanTextConf() / 100))
            api.Clear()
        return results

    def _each_line(self, api: Any) -> Any:
        level = self._library.RIL.TEXTLINE
        iterator = api.GetIterator()
        for item in self._library.iterate_level(iterator, level) if iterator else ():
            words, box = str(item.GetUTF8Text(level)).strip("\n"), item.BoundingBox(level)
            if words.strip() and box:
                left, top, right, bottom = map(float, box)
                yield OcrLine(words, (left, top, right, bottom), float(item.Confidence(level)) / 100)

    def _loaded(self) -> Any:
        if self._api is None:
            library = _library()
            folder = find_data(os.environ if self._env is None else self._env)
            if folder is None:
                raise _no_data()
            languages = "+".join(name for name in LANGUAGES if (folder / f"{name}.traineddata").is_file())
            api: Any = library.PyTessBaseAPI(path=f"{folder}{os.sep}", lang=languages)
            api.SetVariable("debug_file", os.devnull)  # the library writes to the process's stderr by itself
            self._library, self._api = library, api
        return self._api


def find_data(env: Mapping[str, str]) -> Path | None:
    """The first folder with data of a known language: TESSDATA_PREFIX, then where packages put it."""
    given = env.get("TESSDATA_PREFIX", "")
    chosen = [Path(given), Path(given) / "tessdata"] if given else []
    return next((folder for folder in [*chosen, *_usual_places(env)] if languages_in(folder)), None)


def languages_in(folder: Path) -> tuple[str, ...]:
    """The known languages whose data is in the folder."""
    return tuple(name for name in LANGUAGES if (folder / f"{name}.traineddata").is_file())


def _usual_places(env: Mapping[str, str]) -> list[Path]:
    debian = sorted(Path("/usr/share/tesseract-ocr").glob("*/tessdata"), reverse=True)  # the newest version first
    unix = ["/usr/share/tessdata", "/usr/share/tesseract/tessdata", "/usr/local/share/tessdata"]
    mac = ["/opt/homebrew/share/tessdata", "/opt/local/share/tessdata"]
    roots = [env.get("PROGRAMFILES", ""), env.get("LOCALAPPDATA", ""), env.get("LOCALAPPDATA", "") + "/Programs"]
    windows = [f"{root}/Tesseract-OCR/tessdata" for root in roots if root not in {"", "/Programs"}]
    return [*debian, *map(Path, [*unix, *mac, *windows])]


def _library() -> Any:
    try:
        return importlib.import_module("tesserocr")
    except ImportError as error:
        raise MissingLibrary(
            "Tesseract is not installed",
            f"OCR with Tesseract needs the library tesserocr ({error}).",
            f"Install it with: {install_extra('tesseract')}",
        ) from error


def data_command() -> str:
    """The command that installs the languages' data on this system."""
    match sys.platform:
        case "darwin":
            return "brew install tesseract-lang"
        case "win32":
            return "winget install UB-Mannheim.TesseractOCR"
        case _:
            return "sudo apt install tesseract-ocr-eng tesseract-ocr-chi-sim"


def _no_data() -> MissingLibrary:
    return MissingLibrary(
        "Tesseract has no language",
        f"tesserocr is installed, but there is no {LANGUAGES[0]}.traineddata in TESSDATA_PREFIX or any usual place.",
        f"Install it with: {data_command()}",
    )
