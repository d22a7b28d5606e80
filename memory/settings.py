"""The settings of memory; agent.config.config composes them with the other packages'."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

AUTO = "auto"
"""The page mode that stands for the cheapest layout."""


class ArchiveSettings(Struct, frozen=True, kw_only=True):
    """How text becomes pages, and where packs are stored."""

    mode: Annotated[
        Literal["auto", "tiny", "small", "base", "large"],
        Meta(
            description="Page size; auto picks the cheapest layout for texts and files, and base for "
            "conversations and knowledge."
        ),
    ] = "auto"
    dense: Annotated[bool, Meta(description="Draw pages with smaller cells, 6×12 instead of 8×16 pixels.")] = False
    profile: Annotated[
        str, Meta(description="Model profile used to count vision tokens: deepseek-ocr, deepseek-ocr-2, qwen3-vl, …")
    ] = "deepseek-ocr"
    max_file_mb: Annotated[
        int,
        Meta(
            ge=1,
            description="Maximum size of a file for `archive FILE`, in megabytes.",
            extra={"guarded": True},
        ),
    ] = 32
    storage: Annotated[
        str,
        Meta(
            description="Where packs are stored: empty for the workspace, or s3://bucket/prefix or ssh://host/folder.",
            extra={"guarded": True},
        ),
    ] = ""
    cache: Annotated[
        int,
        Meta(
            ge=16,
            description="Size of the local cache for packs from remote storage, in megabytes.",
            extra={"guarded": True},
        ),
    ] = 512
    page_cache_mb: Annotated[
        int,
        Meta(
            ge=1,
            description="Size of the page picture cache (.palimpsest/pages), in megabytes; pictures of the "
            "last day are always kept.",
            extra={"guarded": True},
        ),
    ] = 256
    page_cache_days: Annotated[
        int,
        Meta(
            ge=1,
            description="Days after which unused page pictures are deleted from the cache.",
            extra={"guarded": True},
        ),
    ] = 7
    parity: Annotated[
        int,
        Meta(
            ge=0,
            le=100,
            description="Parity data for each pack, in percent of its size; 0 for none. More than 4 needs "
            "the extra `parity`.",
        ),
    ] = 2

    @property
    def page_mode(self) -> str:
        """The mode of pages that are not laid out by cost."""
        return "base" if self.mode == AUTO else self.mode


class KnowledgeSettings(Struct, frozen=True, kw_only=True):
    """How much of the added files is in view, and how long the rest is kept."""

    max_vision_tokens: Annotated[
        int,
        Meta(
            ge=0,
            description="Maximum vision tokens of knowledge in view; beyond that, the least useful files "
            "leave the view.",
            extra={"guarded": True},  # what it forgets, retention deletes
        ),
    ] = 400
    retention_days: Annotated[
        int,
        Meta(
            ge=0,
            description="Days after which files that are out of view, replaced or deleted from disk are "
            "removed; 0 keeps them forever.",
            extra={"guarded": True},
        ),
    ] = 0
    max_file_mb: Annotated[
        int, Meta(ge=1, description="Maximum size of a file, in megabytes.", extra={"guarded": True})
    ] = 100


class ObserveSettings(Struct, frozen=True, kw_only=True):
    """Who makes observations: structured notes of what tools showed and of what was decided."""

    rules: Annotated[bool, Meta(description="Make observations by rules after each turn, without a model.")] = True
    model: Annotated[
        str,
        Meta(
            description="A model that also makes observations in the background, such as ollama:qwen3; "
            "empty for none. It receives messages and tool results.",
            extra={"model": True},
        ),
    ] = ""
    tokens_a_day: Annotated[
        int,
        Meta(
            ge=1_000,
            le=100_000_000,
            description="Maximum tokens per day for this model, prompts and answers together; after that "
            "only the rules make observations.",
            extra={"guarded": True},
        ),
    ] = 200_000
    daily_notes: Annotated[
        bool,
        Meta(
            description="Save your decisions to memory/YYYY-MM-DD.md before the messages they come from are archived.",
            extra={"guarded": True},  # it writes into the person's files
        ),
    ] = False


class VersionSettings(Struct, frozen=True, kw_only=True):
    """How long versions of notes, of the system prompt and of the project's files are kept."""

    all_days: Annotated[
        int, Meta(ge=1, description="Days for which every version is kept.", extra={"guarded": True})
    ] = 30
    daily_days: Annotated[
        int,
        Meta(
            ge=0,
            description="Days before that for which the last version of each day is kept. The newest "
            "version of a file is always kept.",
            extra={"guarded": True},
        ),
    ] = 365


class BackupSettings(Struct, frozen=True, kw_only=True):
    """When /status and `doctor` remind of a backup."""

    remind_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="Remind when the last backup is this many days old; 0 for never. There is no "
            "reminder before the first backup.",
        ),
    ] = 14


class SyncSettings(Struct, frozen=True, kw_only=True):
    """Where this workspace meets its owner's other devices. `palimpsest sync add` sets it."""

    locations: Annotated[
        list[str],
        Meta(description="Locations shared with your other devices: folders, s3://bucket/prefix or ssh://host/folder."),
    ] = []
    recipients: Annotated[
        list[str],
        Meta(description="Public keys (`age1…`) of your devices. If set, data at the locations is encrypted for them."),
    ] = []
    background: Annotated[
        bool,
        Meta(
            description="Sync automatically after turns; otherwise only with `palimpsest sync now`.",
            extra={"guarded": True},  # it sends what was said
        ),
    ] = False
    minutes: Annotated[int, Meta(ge=1, le=10_080, description="Minimum minutes between automatic syncs.")] = 10
    ask_above: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Entries and lines of notes that your other devices may delete here in a week without a "
            "question. More, or a conversation that the device never wrote in, waits for your answer.",
            extra={"guarded": True},  # a workspace from elsewhere must not raise it
        ),
    ] = 20


class RetentionRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What becomes of the conversations that match all that it names, once nobody touched them for so many days."""

    kind: Literal["any", "chat", "one-shot", "import"] = "any"
    label: str = ""
    pattern: str = ""  # of titles, in any case: `*` for any characters, `?` for one
    archive_days: Annotated[int, Meta(ge=0, le=36_500)] = 0  # 0 never
    delete_days: Annotated[int, Meta(ge=0, le=36_500)] = 0  # 0 never


class RetentionSettings(Struct, frozen=True, kw_only=True):
    """What becomes of conversations that nobody touched for long."""

    archive_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="Archive conversations after this many days without activity; 0 for never.",
            extra={"guarded": True},
        ),
    ] = 0
    delete_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="Delete conversations for good after this many days without activity; 0 for never.",
            extra={"guarded": True},
        ),
    ] = 0
    rules: Annotated[
        tuple[RetentionRule, ...],
        Meta(
            description="Rules by kind (any, chat, one-shot, import), label and title pattern. The first "
            "match applies; without a match, the two settings above apply. "
            "`[{label: trip, archive_days: 90}, {kind: one-shot, delete_days: 30}]`",
            extra={"guarded": True},
        ),
    ] = ()
    keep_important: Annotated[
        bool,
        Meta(
            description="Keep conversations with a critical observation (🔴) or a decision (🟤).",
            extra={"guarded": True},
        ),
    ] = True
    background: Annotated[
        bool,
        Meta(
            description="Archive by these rules automatically, once a day, with a notice. Deletion is never automatic.",
            extra={"guarded": True},
        ),
    ] = False
    propose_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="Suggest archiving conversations inactive for this many days, if they take a "
            "megabyte or more; 0 for never. `/clean` lists them at any time.",
        ),
    ] = 30


class CheckSettings(Struct, frozen=True, kw_only=True):
    """How often what is stored is compared with its hashes in the background."""

    sample_days: Annotated[
        int,
        Meta(
            ge=0,
            le=365,
            description="Days between short automatic checks of a sample of the stored data; 0 for never.",
        ),
    ] = 7


class DiskSettings(Struct, frozen=True, kw_only=True):
    """When to warn of the room that memory takes."""

    budget_mb: Annotated[
        int,
        Meta(
            ge=0,
            description="Size budget of this workspace's memory, in megabytes, with a warning at 90 %. 0 "
            "for no limit. Nothing is deleted.",
        ),
    ] = 5_000
    free_mb: Annotated[
        int,
        Meta(
            ge=0,
            description="Warn when the workspace's disk has less free space than this, in megabytes; 0 for never.",
        ),
    ] = 1_000
