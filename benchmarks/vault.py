"""The vault at rest: what packs weigh warm and cold, how long a page takes out of them, and what is stored once.

    python -m benchmarks.vault [--pages 1000] [--mode base] [--json]

Pages of made-up prose are archived through the vault, read, brought to rest, and read again in random order by a vault
that has nothing open. A page's time is from its id to its PNG: row, list of the pack, frame. Unpacking the frame is
shown by itself; a neighbour's time is that of the next page of the same frame. Seconds are of CPU, medians of all.
Mark: a page out of the cold packs of 10,000 pages in under 20 ms beside unpacking.

Stored once: this repository's own files, as a tool would give them out again and again while somebody edits them.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.text.analysis import Analyser
from memory.archive.packs.pack import Pack
from memory.archive.rows import pages as page_rows
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.pages.render.modes import mode_named
from memory.records import EntryDraft, EntryKind
from models.messages import Role

MARK_MS = 20
ROOT = Path(__file__).parents[1]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.vault", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--mode", choices=["tiny", "small", "base", "large"], default="base")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        rest = at_rest(Workspace(Path(folder) / "rest"), options.pages, options.mode)
        once = stored_once(Workspace(Path(folder) / "once"))
    report = {"schema": 1, "mode": options.mode, "at_rest": rest, "stored_once": once, "mark_ms": MARK_MS}
    print(json.dumps(report) if options.json else table(report))
    return int(rest["cold_page_ms"] - rest["unpack_ms"] >= MARK_MS)


def opened(workspace: Workspace) -> tuple[ColdStore, Vault]:
    cold = ColdStore.open(workspace.database, analyse=Analyser(workspace.entities_yaml), clock=SystemClock())
    return cold, Vault(workspace.packs, workspace.page_cache, cold, SystemClock())


def prose(chars: int, seed: int) -> Iterator[str]:
    """Lines of words that are as often as words are (Zipf), over a vocabulary of 8,000."""
    dice = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    weights = [1 / (n + 1) for n in range(len(letters))]
    words = ["".join(dice.choices(letters, weights, k=dice.randint(2, 10))) for _ in range(8000)]
    often = [1 / (n + 2) for n in range(len(words))]
    while chars > 0:
        line = " ".join(dice.choices(words, often, k=dice.randint(4, 18))).capitalize() + ".\n"
        chars -= len(line)
        yield line


def at_rest(workspace: Workspace, pages: int, mode: str) -> dict[str, Any]:
    cold, vault = opened(workspace)
    chars = 0
    for batch in range(-(-pages // 500)):
        count = min(500, pages - batch * 500)
        text = "".join(prose(mode_named(mode).capacity * count, batch))
        chars += len(text)
        vault.archive_text(as_given(text), label=f"part {batch}", mode=mode, keep_entry=False)
    ids = [row.id for row in vault.pages()]
    warm_bytes = packed(cold)
    warm_ms = page_ms(workspace, ids)
    began = time.process_time()
    did = vault.repacking.run(min_age=timedelta(0), least=1)
    repack_s = time.process_time() - began
    cold_ms, neighbour_ms = page_ms(workspace, ids), neighbours_ms(workspace, ids)
    report = {
        "pages": len(ids),
        "warm_kb_per_mb": round(warm_bytes / chars * 1000),
        "cold_kb_per_mb": round(packed(cold) / chars * 1000),
        "cold_packs": did.packs,
        "repack_cpu_ms_page": round(repack_s / len(ids) * 1000, 1),
        "warm_page_ms": warm_ms,
        "cold_page_ms": cold_ms,
        "unpack_ms": unpack_ms(cold, vault, ids),
        "neighbour_ms": neighbour_ms,
    }
    cold.close()
    return report


def packed(cold: ColdStore) -> int:
    return sum(row.size for row in cold.read(page_rows.pack_rows))


def page_ms(workspace: Workspace, ids: list[str]) -> float:
    """The median over 200 pages, each from a vault that has nothing open."""
    cold, _ = opened(workspace)
    times: list[float] = []
    for page in random.Random(1).choices(ids, k=200):
        vault = Vault(workspace.packs, workspace.page_cache, cold, SystemClock())
        began = time.process_time()
        vault.page_reader.png(cold.read(lambda db, page=page: page_rows.page_row(db, page)))
        times.append(time.process_time() - began)
    cold.close()
    return round(statistics.median(times) * 1000, 2)


def neighbours_ms(workspace: Workspace, ids: list[str]) -> float:
    """The median of a page whose neighbour was just read."""
    cold, vault = opened(workspace)
    times: list[float] = []
    for at in random.Random(2).choices(range(len(ids) - 1), k=50):
        vault.page_reader.png(cold.read(lambda db, page=ids[at]: page_rows.page_row(db, page)))
        began = time.process_time()
        vault.page_reader.png(cold.read(lambda db, page=ids[at + 1]: page_rows.page_row(db, page)))
        times.append(time.process_time() - began)
    cold.close()
    return round(statistics.median(times) * 1000, 2)


def unpack_ms(cold: ColdStore, vault: Vault, ids: list[str]) -> float:
    """The median time of the frame of 60 pages, its pack's list being open."""
    times: list[float] = []
    for page in random.Random(3).choices(ids, k=60):
        row = cold.read(lambda db, page=page: page_rows.page_row(db, page))
        pack = Pack(vault.storage, row.pack)
        frame = pack.frame_of(row.position)
        began = time.process_time()
        pack.open_frame(frame)
        times.append(time.process_time() - began)
    return round(statistics.median(times) * 1000, 2)


def stored_once(workspace: Workspace) -> dict[str, Any]:
    """Eight files, each given out five times with an edit between, archived twice a time."""
    cold, vault = opened(workspace)
    dice = random.Random(4)
    files = [path.read_text("utf-8") for path in sorted((ROOT / "memory" / "pages" / "read").rglob("*.py"))[-8:]]
    conversation = cold.new_conversation().seq
    said = shared = 0
    for _ in range(5):
        entries = []
        for n, text in enumerate(files):
            at = dice.randrange(len(text))
            files[n] = f"{text[:at]}# edited {dice.random()}\n{text[at:]}"
            draft = EntryDraft(
                conversation=conversation,
                parent=None,
                kind=EntryKind.TOOL_RESULT,
                role=Role.TOOL,
                text=as_given(files[n]),
            )
            entries.append(cold.append(draft))
        done = vault.archive_entries(entries, label="tools")
        said += sum(entry.chars for entry in entries)
        shared += done.shared_chars
    read = sum(vault.entry_text(entry).text in files for entry in cold.path(entries[-1].seq))
    report = {
        "chars": said,
        "not_drawn_again": round(shared / said, 3),
        "pages": len(vault.pages()),
        "packed_bytes": packed(cold),
        "exact": bool(read),
    }
    cold.close()
    return report


def table(report: dict[str, Any]) -> str:
    rest, once = report["at_rest"], report["stored_once"]
    return "\n".join(
        [
            f"{rest['pages']:,} pages ({report['mode']}): {rest['warm_kb_per_mb']} kB a MB warm, "
            f"{rest['cold_kb_per_mb']} cold, {rest['repack_cpu_ms_page']} ms of CPU a page to bring to rest",
            f"a page: {rest['warm_page_ms']} ms warm, {rest['cold_page_ms']} cold (of it unpacking "
            f"{rest['unpack_ms']}), {rest['neighbour_ms']} a neighbour; mark < {report['mark_ms']} beside unpacking",
            f"stored once: {once['not_drawn_again']:.1%} of {once['chars']:,} characters of repeated tool output "
            f"were not drawn again; {once['pages']} pages, {once['packed_bytes']:,} bytes",
        ]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
