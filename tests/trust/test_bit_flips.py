"""One flipped bit in any file that is kept: no wrong text, and it is named, or nothing is missing for it."""

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from memory.versions import objects
from memory.versions.objects import checked
from memory.zstd import packer
from tests.trust.kept_files import GLOBS, look, make

REBUILT = frozenset({"index segment", "vector segment", "page cache"})
"""Caches: one that is damaged is thrown away and made again from what it was made of, without a word."""
BY_HAND = frozenset({"mirror", "text kept beside pages", "earlier text of a note"})
"""Readable copies that a person may edit: a change in one is an edit."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound")
    make(folder)
    return folder


def files_of(folder: Path, kind: str) -> list[Path]:
    return sorted(path for path in folder.glob(GLOBS[kind]) if path.is_file() and path.stat().st_size)


@pytest.mark.parametrize(
    "flips",
    [
        pytest.param(1, marks=[pytest.mark.slow, pytest.mark.timeout(120)]),
        pytest.param(60, marks=[pytest.mark.soak, pytest.mark.timeout(3600)]),
    ],
)
def test_no_flipped_bit_in_any_file_gives_a_wrong_text(sound: Path, tmp_path: Path, flips: int) -> None:
    chance, count = random.Random(f"{flips} flips"), Counter[str]()
    missing = [kind for kind in GLOBS if not files_of(sound, kind)]
    assert missing == [], "there is no such file"
    wrong, unnamed = list[str](), list[str]()
    for kind in GLOBS:
        folder = tmp_path / "copy"
        shutil.copytree(sound, folder)
        before = look(folder, kind)
        assert before.problems == ()
        for _ in range(flips):
            path = chance.choice(files_of(folder, kind))
            bit = chance.randrange(8 * path.stat().st_size)
            body = bytearray(path.read_bytes())
            body[bit // 8] ^= 1 << bit % 8
            path.write_bytes(body)
            where = f"{kind}: {path.name} bit {bit}"
            after = look(folder, kind)
            wrong += [f"{where}: {one}" for one in after.wrong(before)]
            named = bool(after.problems)
            count["named" if named else "harmless"] += 1
            may_be_harmless = kind in REBUILT | BY_HAND | {"database"}
            if not named and (not may_be_harmless or (kind not in REBUILT and after.is_harmed(before))):
                unnamed.append(where)
            shutil.rmtree(folder)
            shutil.copytree(sound, folder)
        shutil.rmtree(folder)
    print(dict(count))
    assert wrong == []
    assert unnamed == []
    assert count.total() == flips * len(GLOBS)


class Anything(str):
    """Equal to every name."""

    __slots__ = ()

    def __ne__(self, other: object) -> bool:
        return False


def test_a_store_that_believes_its_files_is_found_out(sound: Path, tmp_path: Path) -> None:
    """The control: another text under the name of a version, and a store that does not compare its hash."""
    folder = tmp_path / "copy"
    shutil.copytree(sound, folder)
    before = look(folder, "version")
    path = max(files_of(folder, "version"), key=lambda file: file.stat().st_size)
    path.write_bytes(checked(b"PVW1", packer()(b"another text")))
    after = look(folder, "version")
    assert after.wrong(before) == []
    assert after.problems
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objects, "content_name", lambda _: Anything())
        assert look(folder, "version").wrong(before)
