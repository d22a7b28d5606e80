"""Recall from a picture alone: re-encoded, renamed, in an empty workspace, after all that made it is deleted."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests import forked
from tests.paths import ROOT

TEXT = "".join(f"{n}: the key to the attic is 7f{n:05x}, Grüße 世界 ␛ ↵ 🦊\r\n" for n in range(60))


def palimpsest(home: Path, *words: str) -> tuple[int, bytes, str]:
    """The program as a process of its own, in an empty home: its exit status, standard output and standard error."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PALIMPSEST_")},
        "HOME": str(home),
        "USERPROFILE": str(home),
        "PALIMPSEST_CONFIG_DIR": str(home / "config"),
        "PALIMPSEST_DETECT": "off",
        "PYTHONPATH": str(ROOT),
    }
    if sys.platform == "linux":
        ended = forked.run(words, environment, folder=home)
        return ended.status, ended.out, ended.err.decode()
    command = [sys.executable, "-m", "agent.cli", *words]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


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
    status, out, err = palimpsest(first, "archive", "notes.txt", "--json", *how)
    assert status == 0, err
    pages = json.loads(out)["pages"]
    pictures = []
    for number, page in enumerate(pages):
        pictures.append(second / f"holiday {number}.png")
        re_encoded(Path(page["path"]), pictures[-1])
    shutil.rmtree(first)
    assert not first.exists()

    texts = []
    for picture in pictures:
        status, out, err = palimpsest(second, "recall", str(picture), "--json")
        assert status == 0, err
        (hit,) = json.loads(out)["hits"]
        assert (hit["trust"], hit["engine"], hit["doubt"]) == ("exact", "cells", [])
        texts.append(hit["text"])
    assert "".join(texts) == TEXT
