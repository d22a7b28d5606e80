"""Recall from a picture alone: re-encoded, renamed, in an empty workspace, after all that made it is deleted."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.paths import ROOT

TEXT = "".join(f"{n}: the key to the attic is 7f{n:05x}, Grüße 世界 ␛ ↵ 🦊\r\n" for n in range(60))


def palimpsest(home: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The program as a process of its own, in an empty home."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PALIMPSEST_")},
        "HOME": str(home),
        "USERPROFILE": str(home),
        "PALIMPSEST_CONFIG_DIR": str(home / "config"),
        "PALIMPSEST_DETECT": "off",
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8:surrogatepass",
    }
    return subprocess.run(
        [sys.executable, "-m", "agent.cli", *words],
        cwd=home,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def re_encoded(picture: Path, target: Path) -> None:
    """Other bytes, no metadata: 8 bits a pixel and colours where there was one bit, packed anew."""
    with Image.open(picture) as image:
        pixels = Image.new("RGB", image.size)
        pixels.paste(image.convert("RGB"))
    pixels.save(target, "PNG", optimize=True)
    assert target.read_bytes() != picture.read_bytes()
    with Image.open(target) as image:
        assert image.info == {}


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("dense", [False, True])
def test_a_page_is_recalled_from_its_re_encoded_picture_and_nothing_else(tmp_path: Path, dense: bool) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    (first / "notes.txt").write_bytes(TEXT.encode())
    how = ["--dense"] if dense else []
    made = palimpsest(first, "archive", "notes.txt", "--json", *how)
    assert made.returncode == 0, made.stderr
    pages = json.loads(made.stdout)["pages"]
    pictures = []
    for number, page in enumerate(pages):
        pictures.append(second / f"holiday {number}.png")
        re_encoded(Path(page["path"]), pictures[-1])
    shutil.rmtree(first)
    assert not first.exists()

    texts = []
    for picture in pictures:
        ran = palimpsest(second, "recall", str(picture), "--json")
        assert ran.returncode == 0, ran.stderr
        (hit,) = json.loads(ran.stdout)["hits"]
        assert (hit["trust"], hit["engine"], hit["doubt"]) == ("exact", "cells", [])
        texts.append(hit["text"])
    assert "".join(texts) == TEXT
