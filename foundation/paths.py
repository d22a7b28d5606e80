"""Where things lie. The only file that knows a path of ours."""

import os
from pathlib import Path

from msgspec import Struct
from msgspec.structs import force_setattr
from platformdirs import user_config_path

from foundation.errors import Misuse

APP = "palimpsest"


class Workspace(Struct, frozen=True):
    """The folder a person owns, and the state beside it.

    `root` is made absolute, its links resolved once: below it, `foundation.files` follows none. Raises Misuse where
    its name is not UTF-8.
    """

    root: Path

    def __post_init__(self) -> None:
        root = os.path.realpath(self.root)
        if any("\ud800" <= letter <= "\udfff" for letter in root):
            raise Misuse(
                "Not a folder for a workspace",
                f"The name {root!r} is not UTF-8, and the store's files cannot be named there.",
                "Rename the folder, or name another: `--workspace DIR`.",
            )
        force_setattr(self, "root", Path(root))

    @property
    def system_yaml(self) -> Path:
        return self.root / "system.yaml"

    @property
    def entities_yaml(self) -> Path:
        """What the person's own texts name: kinds of entity beside ours."""
        return self.root / "entities.yaml"

    @property
    def agents_md(self) -> Path:
        return self.root / "AGENTS.md"

    @property
    def soul_md(self) -> Path:
        return self.root / "SOUL.md"

    @property
    def skills(self) -> Path:
        return self.root / "skills"

    @property
    def memory_md(self) -> Path:
        return self.root / "MEMORY.md"

    @property
    def memory_dir(self) -> Path:
        return self.root / "memory"

    @property
    def kept_texts(self) -> Path:
        """The text that stands beside an explicit archive: `memory/archive/<label>.md`."""
        return self.memory_dir / "archive"

    @property
    def conversations(self) -> Path:
        """The readable mirrors."""
        return self.root / "conversations"

    @property
    def state(self) -> Path:
        return self.root / ".palimpsest"

    @property
    def database(self) -> Path:
        return self.state / "cold.db"

    @property
    def packs(self) -> Path:
        return self.state / "packs"

    @property
    def pack_cache(self) -> Path:
        """Packs that were fetched from elsewhere, each proven by its SHA-256."""
        return self.state / "pack-cache"

    @property
    def damaged(self) -> Path:
        """Copies of what was damaged, a folder a repair."""
        return self.state / "damaged"

    @property
    def page_cache(self) -> Path:
        return self.state / "pages"

    @property
    def knowledge(self) -> Path:
        """Pictures that were added to knowledge, to the byte, each named by its SHA-256."""
        return self.state / "knowledge"

    @property
    def postings(self) -> Path:
        return self.state / "postings"

    @property
    def vectors(self) -> Path:
        """What the passages mean, a folder an embedder; made again from the text where it is deleted."""
        return self.state / "vectors"

    @property
    def versions(self) -> Path:
        """Copies of what a person's file was before we wrote to it."""
        return self.state / "versions"

    @property
    def hot_lock(self) -> Path:
        """Held by the one process of ours that is writing to the hot memory."""
        return self.state / "hot.lock"

    @property
    def drafts(self) -> Path:
        return self.state / "drafts"

    @property
    def prompt_history(self) -> Path:
        """What was typed, a JSON string a line, oldest first."""
        return self.state / "prompt-history.jsonl"

    @property
    def config(self) -> Path:
        return self.state / "config.yaml"

    @property
    def last_good_system(self) -> Path:
        """The last system.yaml that could be read: it holds while the person's own is broken."""
        return self.state / "system.last-good.yaml"

    @property
    def log(self) -> Path:
        return self.state / "log.txt"

    @property
    def is_workspace(self) -> bool:
        """Whether `palimpsest init` has been here."""
        return self.system_yaml.exists() or self.state.exists()


def user_config_dir() -> Path:
    """The user's own configuration folder; `PALIMPSEST_CONFIG_DIR` is read by agent.config, not here."""
    return user_config_path(APP, appauthor=False)
