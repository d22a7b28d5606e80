"""Paths of a workspace and of the user configuration. No other module builds one."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import force_setattr
from platformdirs import user_config_path

from foundation.errors import Misuse
from foundation.names import DRAFT

APP = "palimpsest"
LINKABLE_FILES = ("MEMORY.md", "AGENTS.md", "SOUL.md", "system.yaml")
LINKABLE_FOLDERS = ("memory", "skills")
LINKABLE = (*LINKABLE_FILES, *LINKABLE_FOLDERS)
"""What may be a link out of a workspace, once its owner allowed it."""


class Workspace(Struct, frozen=True):
    """The folder a person owns, and the state beside it.

    `root` is made absolute, its links resolved once: below it, `foundation.files` follows none. Raises Misuse where
    its name is not UTF-8.
    With `scratch` the workspace is only read: what this program would write for itself goes to that folder instead.
    `unwritable` says why it is only read where nothing can be written to it now: its disk `is full`, or it `cannot be
    written to`; "" otherwise.
    `links` are the links out of it that its owner allowed: relative name and resolved target.
    """

    root: Path
    scratch: Path | None = None
    links: tuple[tuple[str, str], ...] = ()
    unwritable: str = ""

    def __post_init__(self) -> None:
        root = os.path.realpath(self.root)
        if any("\ud800" <= letter <= "\udfff" for letter in root):
            raise Misuse(
                "Not a folder for a workspace",
                f"The name {root!r} is not UTF-8, so the store cannot create its files there.",
                "Rename the folder, or use another one: `--workspace DIR`.",
            )
        force_setattr(self, "root", Path(root))

    @property
    def is_read_only(self) -> bool:
        return self.scratch is not None

    @property
    def own(self) -> Path:
        """Where files go that this program writes for itself and can do without: derived files, drafts, history."""
        return self.state if self.scratch is None else self.scratch

    def followed(self, name: str) -> Path:
        """The file or folder of that name; for a link out of the workspace its target, if the owner allowed it."""
        path = self.root / name
        target = dict(self.links).get(name)
        return Path(target) if target is not None and path.is_symlink() and os.path.realpath(path) == target else path

    def bounds_of(self, path: Path) -> Path:
        """The folder that the file, its links resolved, must lie in: the workspace, or that of a link allowed."""
        for _, target in self.links:
            if str(path) == target:
                return path.parent
            if path.is_relative_to(target):
                return Path(target)
        return self.root

    @property
    def system_yaml(self) -> Path:
        return self.followed("system.yaml")

    @property
    def entities_yaml(self) -> Path:
        """The user's own kinds of entity."""
        return self.root / "entities.yaml"

    @property
    def agents_md(self) -> Path:
        return self.followed("AGENTS.md")

    @property
    def soul_md(self) -> Path:
        return self.followed("SOUL.md")

    @property
    def skills(self) -> Path:
        return self.followed("skills")

    @property
    def memory_md(self) -> Path:
        return self.followed("MEMORY.md")

    @property
    def memory_dir(self) -> Path:
        return self.followed("memory")

    @property
    def kept_texts(self) -> Path:
        """The texts of explicit archives: `memory/archive/<label>.md`."""
        return self.memory_dir / "archive"

    @property
    def imported_knowledge(self) -> Path:
        """Texts that an import added to knowledge."""
        return self.root / "imported"

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
        return self.own / "pack-cache"

    @property
    def damaged(self) -> Path:
        """Copies of damaged files, a folder per repair."""
        return self.state / "damaged"

    @property
    def secret(self) -> Path:
        """The key of hashes over text that may be private."""
        return self.state / "secret.key"

    @property
    def forgotten(self) -> Path:
        """Jobs of forgetting, a file each, by ids and hashes alone."""
        return self.state / "forgotten"

    @property
    def imported_files(self) -> Path:
        """Marks of the files that were imported, by hashes alone."""
        return self.state / "imported-files"

    @property
    def page_cache(self) -> Path:
        return self.own / "pages"

    @property
    def knowledge(self) -> Path:
        """Pictures that were added to knowledge, to the byte, each named by its SHA-256."""
        return self.state / "knowledge"

    @property
    def postings(self) -> Path:
        return self.own / "postings"

    @property
    def vectors(self) -> Path:
        """What the passages mean, a folder an embedder; made again from the text where it is deleted."""
        return self.own / "vectors"

    @property
    def versions(self) -> Path:
        """Copies of what a person's file was before we wrote to it."""
        return (self.state if self.unwritable else self.own) / "versions"

    @property
    def stored_versions(self) -> Path:
        """The versions that are in the workspace itself, also where it is only read."""
        return self.state / "versions"

    @property
    def checkpoints(self) -> Path:
        """What files of a project held before a tool changed them."""
        return (self.state if self.unwritable else self.own) / "checkpoints"

    @property
    def prompt_caches(self) -> Path:
        """What models in this process computed of conversations; made again from the text where it is deleted."""
        return self.state / "prompt-caches"

    @property
    def hot_lock(self) -> Path:
        """Held by the one process of ours that is writing to the hot memory."""
        return self.own / "hot.lock"

    @property
    def drafts(self) -> Path:
        return self.own / "drafts"

    @property
    def pasted_images(self) -> Path:
        """Images of the clipboard that were pasted into a prompt, for a month."""
        return self.own / "pasted-images"

    @property
    def prompt_history(self) -> Path:
        """The prompts that were typed, a JSON string per line, oldest first."""
        return self.own / "prompt-history.jsonl"

    @property
    def config(self) -> Path:
        return self.state / "config.yaml"

    @property
    def last_good_system(self) -> Path:
        """The last system.yaml that could be read: it holds while the person's own is broken."""
        return self.state / "system.last-good.yaml"

    @property
    def log(self) -> Path:
        return self.own / "log.txt"

    @property
    def brings_state(self) -> bool:
        """Whether there is state already, whoever made it."""
        return os.path.lexists(self.state)

    @property
    def is_workspace(self) -> bool:
        """Whether `palimpsest init` has been here."""
        return self.system_yaml.exists() or self.state.exists()


def config_dir(environment: Mapping[str, str]) -> Path:
    """The user's configuration folder, its links resolved: `PALIMPSEST_CONFIG_DIR`, or the platform's own."""
    return Path(os.path.realpath(environment.get("PALIMPSEST_CONFIG_DIR") or user_config_dir()))


def draft_name(conversation: str) -> str:
    """The name of the file that holds the draft of a conversation, by its id; `is_draft_name` holds of it."""
    name = "".join(mark if mark.isascii() and (mark.isalnum() or mark in "_-") else "-" for mark in conversation)
    name = (name or "new")[:100]
    return f"{name if DRAFT.fits(name) else f'_{name}'[:100]}.md"  # Windows keeps some names for itself


def is_draft_name(name: str) -> bool:
    """Whether a file in the folder of drafts has a name that this program gives."""
    return name.endswith(".md") and DRAFT.fits(name.removesuffix(".md"))


def user_config_dir() -> Path:
    """The user's own configuration folder where no variable names another."""
    return user_config_path(APP, appauthor=False)


def home_shortened(path: Path) -> str:
    """The path as it is shown: with `~` for the home folder."""
    home = Path.home()
    return str(Path("~", path.relative_to(home))) if path.is_relative_to(home) else str(path)


def expand_home(path: str | Path) -> Path:
    """The path with `~` or `~user` as that home folder; as it is where there is no such user."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises a RuntimeError there
