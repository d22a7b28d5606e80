"""Kills a repair at one call after the other: `python kill_repairs.py FOLDER KILLS`; prints how many landed.

Each time the workspace has lost its database, a page of a file whose text is kept, and a manifest. After the kill
another repair is to bring back every text, exact and once, and the originals are to be there.
"""

import json
import os
import shutil
import signal
import sys
from collections import Counter
from pathlib import Path

from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.archive.packs.pack import Pack
from memory.archive.write.sidecar import keep_text
from memory.memory import Memory
from tests.fakes import FakeClock
from tests.faults import Fuse
from tests.memory.archive.intact_workspace import FILE, archived, mend, problems, texts
from tests.memory.archive.kill_archiver import forked


def begin(root: Path) -> list[str]:
    """The workspace, and the ids of what was said in it."""
    memory, said = archived(root, FakeClock())
    keep_text(memory.workspace.kept_texts, "notes", as_given(FILE))
    memory.close()
    return [entry.id for entry in said]


def damage(root: Path) -> None:
    space = Workspace(root)
    memory = Memory.open(space, FakeClock(), read_only=False)
    page = memory.vault.pages(memory.vault.find_archive("notes").seq)[1]
    leaf = Pack(memory.vault.storage, page.pack).pages[page.position]
    memory.close()
    path = space.packs / page.pack
    raw = bytearray(path.read_bytes())
    raw[leaf.offset + 30] ^= 1
    path.write_bytes(raw)
    for file in space.state.glob("cold.db*"):
        if file.is_file():
            file.unlink()


def repair(root: Path, at: int, *, after: bool) -> None:
    fuse = Fuse(at, after=after)
    fuse.lay()
    memory = Memory.open(Workspace(root), FakeClock(), read_only=False)
    mend(memory)
    memory.close()
    (root / "calls").write_text(str(fuse.count))


def compare(root: Path, ids: list[str]) -> None:
    memory = Memory.open(Workspace(root), FakeClock(), read_only=False)
    done = mend(memory)
    assert done.problems == (), done
    assert problems(memory) == []
    (file,) = [one for one in memory.vault.archives() if one.origin == "file"]
    assert "".join(memory.vault.read_page(page.id).text for page in memory.vault.pages(file.seq)) == FILE
    said = [memory.cold.find(id_) for id_ in ids]
    assert [text.split()[1] for text in texts(memory, said)] == [str(n) for n in range(len(ids))]
    assert memory.cold.statistics().entries == len(ids) + file.pages
    memory.close()


def main() -> None:
    folder, kills = Path(sys.argv[1]), int(sys.argv[2])
    sound, seen = folder / "sound", Counter[str]()
    os.waitpid(forked(lambda: (folder / "ids").write_text(json.dumps(begin(sound)))), 0)
    ids = json.loads((folder / "ids").read_text())
    os.waitpid(forked(lambda: damage(sound)), 0)
    whole = folder / "whole"
    shutil.copytree(sound, whole)
    os.waitpid(forked(lambda: repair(whole, 0, after=False)), 0)
    calls = int((whole / "calls").read_text())
    for n in range(kills):
        copy = folder / f"copy-{n}"
        shutil.copytree(sound, copy)
        at = 1 + calls * n // kills
        _, status = os.waitpid(forked(lambda copy=copy, at=at, n=n: repair(copy, at, after=n % 2 == 1)), 0)
        seen["landed"] += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        _, status = os.waitpid(forked(lambda copy=copy: compare(copy, ids)), 0)
        seen["mended"] += status == 0
        shutil.rmtree(copy)
    print(json.dumps({"calls": calls, **seen}))


main()
