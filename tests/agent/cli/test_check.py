"""`palimpsest check`, and `--repair`."""

from pathlib import Path

import pytest

from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

NOTE = "".join(f"{n}: the key to the attic hangs behind the blue door.\n" for n in range(400))


@pytest.fixture
def kept(run: Run, tmp_path: Path) -> Run:
    (tmp_path / "attic.txt").write_text(NOTE)
    assert run("archive", str(tmp_path / "attic.txt"), "--no-text").status == 0
    return run


def packs(root: Path, ending: str) -> list[Path]:
    return sorted((root / ".palimpsest" / "packs").glob(f"*{ending}"))


def damage(file: Path) -> bytes:
    """Its last byte turned over: what stands in the file then."""
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 0xFF]))
    return file.read_bytes()


def damage_beyond_parity(root: Path) -> Path:
    """Damages the pack, and takes the parity away that would mend it."""
    (pack,), (parity,) = packs(root, ".pages"), packs(root, ".parity")
    parity.unlink()
    raw = bytearray(pack.read_bytes())
    raw[40:80] = bytes(40)
    pack.write_bytes(raw)
    return pack


def test_a_sound_workspace_is_said_to_be_sound(kept: Run) -> None:
    ran = kept("check", "--json")
    assert (ran.status, ran.json["sound"], ran.json["problems"], ran.json["mended"]) == (0, True, [], [])
    assert "All is well" in kept("check").err


def test_a_check_alone_changes_nothing_and_says_what_mends(kept: Run, root: Path) -> None:
    (manifest,) = packs(root, ".manifest")
    damage(manifest)
    ran = kept("check")
    assert ran.status == 1
    assert manifest.name in ran.out
    assert "check --repair" in ran.err
    assert kept("check").status == 1


def test_a_repair_mends_and_says_where_the_damaged_file_is_kept(kept: Run, root: Path) -> None:
    (manifest,) = packs(root, ".manifest")
    damaged = damage(manifest)
    ran = kept("check", "--repair", "--json")
    assert (ran.status, ran.json["sound"], ran.json["problems"], ran.json["lost"]) == (0, True, [], [])
    assert manifest.name in ran.json["mended"][0]
    assert (Path(ran.json["kept_at"]) / manifest.name).read_bytes() == damaged
    assert kept("check").status == 0


@pytest.mark.parametrize("how", ["gone", "empty", "no database", "cut off"])
def test_a_lost_database_is_built_again_and_its_words_are_found(kept: Run, root: Path, how: str) -> None:
    database = root / ".palimpsest" / "cold.db"
    whole = database.read_bytes()
    for file in database.parent.glob("cold.db*"):
        if file.is_file():
            file.unlink()
    match how:
        case "empty":
            database.write_bytes(b"")
        case "no database":
            database.write_bytes(b"these are no rows at all" * 400)
        case "cut off":
            database.write_bytes(whole[: len(whole) // 3])
        case _:
            pass
    assert kept("check", "--json").status == 1
    ran = kept("check", "--repair", "--json")
    assert (ran.status, ran.json["problems"]) == (int(bool(ran.json["lost"])), [])
    assert kept("check").status == 0
    (hit, *_) = kept("recall", "the key to the attic", "--json").json["hits"]
    assert hit["trust"] == "exact"
    assert "blue door" in hit["text"]


def test_what_is_lost_is_named_and_the_status_says_so(kept: Run, root: Path) -> None:
    damage_beyond_parity(root)
    ran = kept("check", "--repair", "--json")
    assert (ran.status, ran.json["sound"]) == (1, False)
    assert "“attic”" in ran.json["lost"][0]
    again = kept("check", "--repair")
    assert again.status == 1
    assert "lost: " in again.out


def test_nothing_that_is_lost_is_said_twice(kept: Run, root: Path) -> None:
    pack = damage_beyond_parity(root)
    kept("check", "--repair")
    said = kept("check", "--repair").out
    assert pack.name in said
    assert said.count("pg_") == said.count("lost: Page pg_")


def test_a_manifest_is_named_once(kept: Run, root: Path) -> None:
    (manifest,) = packs(root, ".manifest")
    damage(manifest)
    assert kept("check").out.count(manifest.name) == 1
