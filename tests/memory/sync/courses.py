"""Random courses: what people do on three devices, and what happens to the files between them.

A course follows from its seed alone: ids are drawn from it, too, for names of files and the order of devices hang on
them. So one that fails fails again.
"""

import random
from pathlib import Path
from types import SimpleNamespace

import pytest

import memory.records as records
from foundation.errors import PalimpsestError
from foundation.privacy import clear
from memory.backup.place import LocalPlace
from memory.cold.sql import fetch
from memory.records import Conversation
from memory.sync.note_store import versions_of
from memory.sync.place import SYNC
from tests.memory.sync.devices import Laptop, state_of

NOTES = ("MEMORY.md", "memory/trip.md")
LABELS = ("travel", "work", "wichtig")


class FakeShare(LocalPlace):
    """A folder as one device sees it while it is being synced: files are missing, torn, or there again."""

    def __init__(self, folder: Path, chance: random.Random, trouble: float) -> None:
        super().__init__(folder, SYNC)
        self._chance = chance
        self._trouble = trouble

    def sizes(self) -> dict[str, int]:
        found = super().sizes()
        return {name: size for name, size in found.items() if self._chance.random() >= self._trouble}

    def read(self, name: str) -> bytes:
        body = super().read(name)
        if self._chance.random() >= self._trouble:
            return body
        return self._chance.choice((body[: len(body) // 2], b"", body[:-1] + bytes(byte ^ 1 for byte in body[-1:])))


class Course:
    """A course of random steps on three devices. `said`: every entry by its id, with its conversation."""

    def __init__(self, root: Path, seed: int, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(records, "secrets", SimpleNamespace(randbits=random.Random(-1 - seed).getrandbits))
        self.seed = seed
        self.chance = random.Random(seed)
        skews = (0, -7 * 3600, 11 * 3600)
        self.devices = [Laptop(root / name / "ws", name, skew_s=skew) for name, skew in zip("abc", skews, strict=True)]
        self.place = root / "shared"
        LocalPlace(self.place, SYNC).make()
        self.copies: dict[str, bytes] = {}  # every file that was ever there
        self.said: dict[str, str] = {}
        self.deleted: set[str] = set()
        self.lines: list[tuple[str, str]] = []
        self.steps = 0

    def close(self) -> None:
        for device in self.devices:
            device.close()

    def run(self, steps: int) -> None:
        actions = {
            self.say: 30,
            self.branch: 4,
            self.rename: 12,
            self.label: 8,
            self.delete: 1,
            self.note: 5,
            self.delete_note: 1,
            self.sync: 25,
            self.harm: 8,
            self.clock: 2,
        }
        for _ in range(steps):
            (action,) = self.chance.choices(list(actions), list(actions.values()))
            action(self.chance.choice(self.devices))
            self.steps += 1

    def settle(self) -> None:
        """Syncs until everybody knows everything."""
        for _ in range(4):
            for device in self.devices:
                device.run(self.place)

    def states(self) -> list[dict[str, object]]:
        return [state_of(device) for device in self.devices]

    def evidence(self) -> str:
        """For whoever looks into a course that failed: what repeats it, and each version of a note that differs."""
        lines = [f"Course(…, seed {self.seed}).run({self.steps}); its files are in {self.place.parent}"]
        for path in NOTES:
            texts = {device.name: _text_of(device, path) for device in self.devices}
            if len(set(texts.values())) > 1:
                lines += [f"{path} on {name}:\n{text}" for name, text in texts.items()]
                lines += [line for device in self.devices for line in _versions(device, path)]
        return "\n".join(lines)

    # ── what people do ──

    def say(self, device: Laptop) -> None:
        conversation = self._any(device)
        if conversation is None or self.chance.random() < 0.1:
            conversation = device.memory.conversations.new(clear(f"Talk {self.steps}"))
        entry = device.say(conversation, f"Words {self.steps} 😀 " * self.chance.choice((1, 1, 1, 200)))
        self.said[entry.id] = conversation.id

    def branch(self, device: Laptop) -> None:
        if (conversation := self._any(device)) is not None:
            entries = list(device.memory.conversations.all_entries(conversation.seq))
            if entries:
                device.memory.conversations.set_leaf(conversation.seq, self.chance.choice(entries).seq)

    def rename(self, device: Laptop) -> None:
        if (conversation := self._any(device)) is not None:
            device.memory.conversations.rename(conversation.seq, clear(f"Title {self.steps}"))

    def label(self, device: Laptop) -> None:
        if (conversation := self._any(device)) is not None:
            name = self.chance.choice(LABELS)
            if name in conversation.labels:
                device.memory.conversations.unlabel(conversation.seq, name)
            else:
                device.memory.conversations.label(conversation.seq, clear(name))

    def delete(self, device: Laptop) -> None:
        if (conversation := self._any(device)) is not None:
            self.deleted.add(conversation.id)
            device.delete(conversation)

    def note(self, device: Laptop) -> None:
        name = self.chance.choice(NOTES)
        path = device.workspace.root / name
        path.parent.mkdir(exist_ok=True)
        before = path.read_text("utf-8") if path.exists() else "# Notes\n- status: 0\n"
        if self.chance.random() < 0.4:
            text = "".join(
                f"- status: {self.steps}\n" if line.startswith("- status:") else line
                for line in before.splitlines(keepends=True)
            )
        else:
            self.lines.append((name, f"- line {self.steps}\n"))
            text = before + self.lines[-1][1]
        path.write_text(text, encoding="utf-8")

    def delete_note(self, device: Laptop) -> None:
        """Deletes a file, with the lines that it holds then: they may stay, where another device edits it meanwhile."""
        path = device.workspace.root / self.chance.choice(NOTES)
        gone = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
        self.lines = [(name, line) for name, line in self.lines if line not in gone]
        path.unlink(missing_ok=True)

    def clock(self, device: Laptop) -> None:
        """Somebody sets the clock, or a year goes by."""
        device.clock.advance(self.chance.choice((-5 * 3600, 5 * 3600, 365 * 86400)))

    # ── the files between them ──

    def sync(self, device: Laptop) -> None:
        share = FakeShare(self.place, self.chance, self.chance.choice((0, 0.3, 0.7)))
        most = self.chance.choice((0, 1, 100))
        calls = iter(range(10**6))
        device.clock.advance(1)
        try:
            device.sync.run(share, lambda: next(calls) >= most)
        except PalimpsestError:
            assert self.place.parent.exists()
        self._copy()

    def harm(self, device: Laptop) -> None:
        """Loses, tears, doubles or brings back a file."""
        del device
        files = sorted(self.place.glob("*.segment")) if self.place.exists() else []
        if not files:
            return
        file = self.chance.choice(files)
        match self.chance.randrange(5):
            case 0:
                file.unlink()
            case 1:
                file.write_bytes(file.read_bytes()[: self.chance.randrange(60)])
            case 2:
                file.with_name(f"{file.stem} (conflicted copy).segment").write_bytes(file.read_bytes())
            case 3:
                number = f"{self.chance.randrange(9):08}"
                file.with_name(f"{file.name[:15]}{number}{file.name[23:]}").write_bytes(file.read_bytes())
            case _:
                name = self.chance.choice(sorted(self.copies))
                (self.place / name).write_bytes(self.copies[name])

    def _copy(self) -> None:
        for file in self.place.glob("d_*.segment") if self.place.exists() else ():
            self.copies.setdefault(file.name, file.read_bytes())

    def _any(self, device: Laptop) -> Conversation | None:
        found = device.memory.conversations.recent(limit=4)
        return self.chance.choice(found) if found else None


def _text_of(device: Laptop, path: str) -> str:
    return next((file.text for file in device.memory.hot.files() if file.path == path), "")


def _versions(device: Laptop, path: str) -> list[str]:
    """A line for each version of a note that the device knows, and one for what it merged last."""
    versions = sorted(device.memory.cold.read(lambda db: versions_of(db, path)), key=lambda each: each.clock)
    merged = device.memory.cold.read(lambda db: fetch(db, "SELECT * FROM sync_merged WHERE path = ?", (path,)))
    known = [
        f"{device.name} {path} {each.id[:8]} of {[parent[:8] for parent in each.parents]} {each.clock} {each.device} "
        f"{each.text!r}"
        for each in versions
    ]
    return [*known, f"{device.name} {path} merged: {merged}"]
