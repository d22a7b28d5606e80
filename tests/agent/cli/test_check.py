"""`palimpsest check`, and `--repair`."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.checkpoints.change import FileChange
from agent.checkpoints.checkpoints import Checkpoints
from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.archive.packs.pack import Pack
from memory.archive.packs.storage import PAGES_A_FRAME
from memory.forgotten.journal import ForgetJob, ForgetJournal
from memory.memory import Memory
from memory.pages.types import PageRow, numbered
from memory.records import IntegrityProblem
from memory.upkeep.sample import check_slice
from memory.upkeep.state import Round
from memory.versions.objects import content_name
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
    assert "All is intact" in kept("check").err


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


@pytest.fixture
def cold_pack(run: Run, root: Path, tmp_path: Path) -> tuple[Path, list[PageRow]]:
    """A pack of one cold frame, with a flipped bit in it, and its pages; the last pages are in another."""
    (tmp_path / "log.txt").write_text("".join(f"{n}: the key hangs behind door {n % 97}.\n" for n in range(3_600)))
    assert run("archive", str(tmp_path / "log.txt"), "--label", "log", "--no-text", "--mode", "tiny").status == 0
    memory = Memory.open(Workspace(root))
    assert memory.vault.repacking.run(min_age=timedelta(0), least=1).left == 0
    pages = memory.vault.pages()
    frames = Pack(memory.vault.storage, pages[0].pack).pages
    memory.close()
    file = root / ".palimpsest" / "packs" / pages[0].pack
    raw = bytearray(file.read_bytes())
    raw[frames[0].offset + frames[0].length // 2] ^= 0x10
    file.write_bytes(raw)
    damaged = [page for page in pages if page.pack == file.name]
    assert len(damaged) == PAGES_A_FRAME < len(pages)
    return file, damaged


def test_the_pages_of_a_damaged_frame_are_one_line(run: Run, root: Path, cold_pack: tuple[Path, list[PageRow]]) -> None:
    file, damaged = cold_pack
    ran = run("check")
    assert ran.status == 1
    assert len(ran.out.splitlines()) == 2
    assert "It can be restored from parity data:" in ran.out
    assert f"64 pages cannot be read: {numbered('page', [page.number for page in damaged])} of “log”." in ran.out
    (pack, pages) = run("check", "--json").json["problems"]
    assert (pack["what"], pack["where"], pack["pages"]) == ("pack", file.name, [])
    assert (pages["what"], pages["where"], sorted(pages["pages"])) == (
        "pages",
        file.name,
        sorted(page.id for page in damaged),
    )
    mended = run("check", "--repair")
    assert (mended.status, "repaired from parity data," in mended.out) == (0, True)
    assert run("check").status == 0


def test_lost_pages_of_a_frame_are_one_line_too(run: Run, root: Path, cold_pack: tuple[Path, list[PageRow]]) -> None:
    file, damaged = cold_pack
    numbers = [page.number for page in damaged]
    parity = file.with_suffix(".parity")
    whole = parity.read_bytes()
    parity.write_bytes(bytes(len(whole)))
    assert "cannot be used" in run("check").out or "Too much of it is damaged" in run("check").out
    parity.unlink()
    body = file.read_bytes()
    file.write_bytes(body[:16] + bytes(400) + body[416:])  # so that no page before the flipped bit can be salvaged
    assert "It has no parity." in run("check").out
    ran = run("check", "--repair")
    assert ran.status == 1
    (lost,) = [line for line in ran.out.splitlines() if line.startswith("lost: ")]
    assert f"64 pages in pack {file.name} are lost: {numbered('page', numbers)} of “log”. Entries on them: " in lost
    assert lost.endswith(" and 44 more.")
    assert sum(file.name in line for line in ran.out.splitlines()) == 1
    again = run("recall", "log", "--json")
    assert (again.status, again.json["hits"][0]["missing"]) == (1, numbers)


@pytest.fixture
def changed_file(run: Run, root: Path, tmp_path: Path) -> Run:
    """A workspace with two versions of a file that a tool changed."""
    (tmp_path / "project").mkdir()
    checkpoints = Checkpoints(Workspace(root).checkpoints, SystemClock())
    checkpoints.begin_turn("c_1", "e_1")
    for expected, new in ((None, b"1\n"), (b"1\n", b"2\n")):
        checkpoints.apply([FileChange(folder=tmp_path / "project", path="a", expected=expected, new=new)], "e_2")
    assert run("check").status == 0
    return run


@pytest.mark.parametrize(
    ("what", "where", "words"),
    [
        ("flipped", "journal.jsonl", "1 line of the checkpoint journal cannot be read (line 3)"),
        ("garbage", "journal.jsonl", "1 line of the checkpoint journal cannot be read (line 1)"),
        ("no journal", "journal.jsonl", "It is missing, although file versions exist."),
        ("flipped blob", "blobs", "It is a version of a, which cannot be undone past it."),
        ("missing blob", "blobs", "It is a version of a, which cannot be undone past it."),
        ("a file", "checkpoints", "It is not a folder"),
    ],
)
def test_damage_of_the_checkpoints_is_found(changed_file: Run, root: Path, what: str, where: str, words: str) -> None:
    folder = Workspace(root).checkpoints
    journal, blob = folder / "journal.jsonl", next((folder / "blobs").glob("*/*"))
    match what:
        case "flipped":
            journal.write_bytes(journal.read_bytes()[:-300] + b"\0" + journal.read_bytes()[-299:])
        case "garbage":
            journal.write_bytes(b"no journal\n")
        case "no journal":
            journal.unlink()
        case "flipped blob":
            damage(blob)
        case "missing blob":
            blob.unlink()
        case _:
            shutil.rmtree(folder)
            folder.write_text("no folder")
    ran = changed_file("check", "--json")
    (problem,) = ran.json["problems"]
    assert (ran.status, ran.json["sound"], where in problem["where"], words in problem["message"]) == (
        1,
        False,
        True,
        True,
    ), problem
    assert "All is intact" not in changed_file("check").err


def test_a_repair_sets_unreadable_lines_of_the_journal_aside(changed_file: Run, root: Path) -> None:
    journal = Workspace(root).checkpoints / "journal.jsonl"
    first, second, third, end = journal.read_bytes().splitlines(keepends=True)
    damaged = first + second + third.replace(b"path", b"pbth") + end
    journal.write_bytes(damaged)
    ran = changed_file("check", "--repair", "--json")
    assert (ran.status, ran.json["problems"]) == (1, [])
    assert "1 line of the checkpoint journal" in ran.json["lost"][0]
    assert (Path(ran.json["kept_at"]) / "journal.jsonl").read_bytes() == damaged
    assert journal.read_bytes() == first + second
    assert changed_file("check").status == 0


def test_a_damaged_tombstone_is_named_and_mended_from_the_second_file(run: Run, root: Path) -> None:
    run("-p", "The code of the door is zqbluefin-7731.")
    assert run("forget", "zqbluefin", "--yes").status == 0
    assert run("check").status == 0
    file = root / ".palimpsest" / "forgotten.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"text":"', b'"text":"0', 1))
    named = run("check")
    assert named.status == 1
    assert (
        "tombstones forgotten.jsonl: Damaged: 1 line (1). Only in forgotten/tombstones.jsonl: 1 tombstone." in named.out
    )
    assert run("check", "--repair").status == 0
    assert file.read_bytes() == whole
    (kept,) = (root / ".palimpsest" / "damaged").rglob("*forgotten.jsonl")
    assert kept.read_bytes() != whole
    assert run("check").status == 0


@pytest.fixture
def versioned(run: Run, root: Path) -> Run:
    """A workspace with two versions of MEMORY.md: the first is gone from the file, the second is what it holds."""
    (root / "MEMORY.md").write_text("- the first text\n")
    run("memory", "list")
    (root / "MEMORY.md").write_text(NOTE)
    run("memory", "list")
    assert run("check").status == 0
    return run


def version_object(root: Path, text: str) -> Path:
    name = content_name(text.encode())
    return Workspace(root).versions / "objects" / name[:2] / name


def test_a_repair_stores_a_damaged_version_anew_from_the_file_itself(versioned: Run, root: Path) -> None:
    stored = version_object(root, NOTE)
    damaged = damage(stored)
    ran = versioned("check", "--repair", "--json")
    assert (ran.status, ran.json["problems"], ran.json["lost"]) == (0, [], [])
    assert "of MEMORY.md: stored anew" in ran.json["mended"][0]
    assert (Path(ran.json["kept_at"]) / f"{stored.parent.name}-{stored.name}").read_bytes() == damaged
    assert versioned("check").status == 0


def test_a_text_that_two_versions_share_is_stored_anew_once(versioned: Run, root: Path) -> None:
    (root / "MEMORY.md").write_text("- the first text\n")
    versioned("memory", "list")
    stored = version_object(root, "- the first text\n")
    damage(stored)
    assert len(versioned("check", "--json").json["problems"]) == 2
    ran = versioned("check", "--repair", "--json")
    assert (ran.status, ran.json["problems"], ran.json["lost"]) == (0, [], [])
    assert len(ran.json["mended"]) == 1
    assert len(list(Path(ran.json["kept_at"]).iterdir())) == 1, "a copy of the damaged one alone"


@pytest.mark.parametrize("what", ["flipped", "missing", "manifest"])
def test_a_damaged_version_that_nothing_mends_is_said_by_the_repair_and_after_it(
    versioned: Run, root: Path, what: str
) -> None:
    stored = version_object(root, "- the first text\n")
    manifest = Workspace(root).versions / "manifest"
    match what:
        case "flipped":
            damage(stored)
        case "missing":
            stored.unlink()
        case _:
            lines = manifest.read_bytes().splitlines(keepends=True)
            manifest.write_bytes(b"".join([lines[0].replace(b"path", b"pbth"), *lines[1:]]))
    (problem,) = versioned("check", "--json").json["problems"]
    assert "Stored data is damaged: " in versioned("-p", "/status").out
    ran = versioned("check", "--repair")
    assert (ran.status, f"lost: {problem['message']}" in ran.out, "All is intact" in ran.err) == (1, True, False)
    assert "mended: " not in ran.out, "the file holds another text now"
    after = versioned("check")
    assert (after.status, after.out) == (0, "")
    assert f"1 version is lost since {datetime.now(UTC).astimezone():%Y-%m-%d}. " in after.err
    assert "All else is well" in after.err
    (known,) = versioned("check", "--json").json["known_lost"]
    assert known["message"] == problem["message"]
    assert versioned("check", "--repair").status == 0
    assert "1 version is lost since" in versioned("memory", "log").err
    assert "1 version is lost since" in versioned("-p", "/memory log").out
    assert "Stored data is damaged: " not in versioned("-p", "/status").out


def test_a_lost_version_is_whole_again_with_its_bytes_and_new_damage_is_a_problem(versioned: Run, root: Path) -> None:
    stored = version_object(root, "- the first text\n")
    whole = stored.read_bytes()
    stored.unlink()
    assert versioned("check", "--repair").status == 1
    rows = versioned("memory", "log", "--json").json["versions"]
    assert [row["number"] for row in rows if row["lost"]] == [1]
    assert " lost " in versioned("memory", "log").out
    other = version_object(root, NOTE)
    sound = other.read_bytes()
    damage(other)
    ran = versioned("check", "--json")
    assert (ran.status, [one["where"] for one in ran.json["problems"]], len(ran.json["known_lost"])) == (1, ["3"], 1)
    other.write_bytes(sound)
    stored.write_bytes(whole)
    ran = versioned("check", "--json")
    assert (ran.status, ran.json["known_lost"], ran.json["sound"]) == (0, [], True)
    assert "lost" not in versioned("memory", "log").out
    stored.unlink()
    assert versioned("check").status == 1, "it was whole in between"


def test_a_record_of_what_is_lost_that_is_damaged_hides_nothing(versioned: Run, root: Path) -> None:
    version_object(root, "- the first text\n").unlink()
    assert versioned("check", "--repair").status == 1
    assert versioned("check").status == 0
    record = Workspace(root).versions / "lost"
    record.write_bytes(record.read_bytes().replace(b'"since_ms":1', b'"since_ms":2'))
    assert versioned("check").status == 1


def test_a_sample_says_nothing_of_a_version_that_is_known_to_be_lost(versioned: Run, root: Path) -> None:
    version_object(root, "- the first text\n").unlink()

    def problems() -> tuple[IntegrityProblem, ...]:
        memory = Memory.open(Workspace(root))
        try:
            return check_slice(memory, "versions", Round("", ""), 60, lambda: False).problems
        finally:
            memory.close()

    assert [problem.where for problem in problems()] == ["1"]
    assert versioned("check", "--repair").status == 1
    assert problems() == ()


def test_a_repair_names_what_is_not_forgotten_yet(run: Run, root: Path) -> None:
    run("remember", "the quagga stands in the attic")
    ForgetJournal(Workspace(root).forgotten).write(ForgetJob(id="f_0123456789ab", begun_ms=0))
    ran = run("check", "--repair")
    assert (ran.status, "not forgotten yet" in ran.out) == (1, True)
