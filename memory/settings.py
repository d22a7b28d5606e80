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
            description="How large a page is; auto takes the cheapest layout for the profile for a text or file, and "
            "base for conversations and knowledge."
        ),
    ] = "auto"
    dense: Annotated[bool, Meta(description="Whether pages are drawn in cells of 6×12 pixels instead of 8×16.")] = False
    profile: Annotated[
        str, Meta(description="Whose tokens an archive's figures count: deepseek-ocr, deepseek-ocr-2, qwen3-vl, …")
    ] = "deepseek-ocr"
    max_file_mb: Annotated[
        int,
        Meta(
            ge=1,
            description="The largest text that `archive FILE` takes at once, in megabytes.",
            extra={"guarded": True},
        ),
    ] = 32
    storage: Annotated[
        str,
        Meta(
            description="Where packs stand: empty for the workspace, or s3://bucket/prefix, ssh://host/folder.",
            extra={"guarded": True},
        ),
    ] = ""
    cache: Annotated[
        int,
        Meta(
            ge=16,
            description="Packs fetched from such a place are kept here, at most so many megabytes of them.",
            extra={"guarded": True},
        ),
    ] = 512
    page_cache_mb: Annotated[
        int,
        Meta(
            ge=1,
            description="Pictures of pages in .palimpsest/pages take at most so many megabytes; those of the last day "
            "stay.",
            extra={"guarded": True},
        ),
    ] = 256
    page_cache_days: Annotated[
        int,
        Meta(
            ge=1,
            description="Pictures of pages there are deleted when nobody used them for so many days.",
            extra={"guarded": True},
        ),
    ] = 7
    parity: Annotated[
        int,
        Meta(
            ge=0,
            le=100,
            description="Parity kept beside each pack, in percent of its size; 0 keeps none. More than 4 needs the "
            "extra `parity`.",
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
            description="Vision tokens that knowledge may take in view; above it, forgetting acts.",
            extra={"guarded": True},  # what it forgets, retention deletes
        ),
    ] = 400
    retention_days: Annotated[
        int,
        Meta(
            ge=0,
            description="Days after which what is out of view, replaced or gone from disk is deleted; 0 keeps it for "
            "ever.",
            extra={"guarded": True},
        ),
    ] = 0
    max_file_mb: Annotated[
        int, Meta(ge=1, description="The largest file that is read, in megabytes.", extra={"guarded": True})
    ] = 100


class ObserveSettings(Struct, frozen=True, kw_only=True):
    """Who makes observations: structured notes of what tools showed and of what was decided."""

    rules: Annotated[
        bool, Meta(description="Whether rules make them after each turn, without a model, in milliseconds.")
    ] = True
    model: Annotated[
        str,
        Meta(
            description="A model that also makes them, like ollama:qwen3, in the background and within "
            "observe.tokens_a_day; empty for none. It gets messages and tool results.",
            extra={"model": True},
        ),
    ] = ""
    tokens_a_day: Annotated[
        int,
        Meta(
            ge=1_000,
            le=100_000_000,
            description="The most tokens that this model takes a day, prompts and answers, over all programs of the "
            "workspace; beyond them the rules alone make observations.",
            extra={"guarded": True},
        ),
    ] = 200_000
    daily_notes: Annotated[
        bool,
        Meta(
            description="Whether what you decided is kept in memory/YYYY-MM-DD.md, as notes of yours, before the turns "
            "that it comes from leave a request.",
            extra={"guarded": True},  # it writes into the person's files
        ),
    ] = False


class VersionSettings(Struct, frozen=True, kw_only=True):
    """How long versions of notes, of the system prompt and of the project's files are kept."""

    all_days: Annotated[
        int, Meta(ge=1, description="Every version of the last so many days is kept.", extra={"guarded": True})
    ] = 30
    daily_days: Annotated[
        int,
        Meta(
            ge=0,
            description="Of so many days before those the last version of each day; the newest of a file always.",
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
            description="Remind when the last backup of this workspace is at least so many days old; 0 never does. "
            "Where no backup was ever made, nothing reminds.",
        ),
    ] = 14


class SyncSettings(Struct, frozen=True, kw_only=True):
    """Where this workspace meets its owner's other devices. `palimpsest sync add` sets it."""

    locations: Annotated[
        list[str],
        Meta(
            description="Folders, s3://bucket/prefix or ssh://host/folder that other devices of yours read and write."
        ),
    ] = []
    recipients: Annotated[
        list[str],
        Meta(
            description="Public keys (`age1…`) of your devices: with any, what is written there is encrypted for them."
        ),
    ] = []
    background: Annotated[
        bool,
        Meta(
            description="Whether the chat syncs after turns by itself; else only `palimpsest sync now` does.",
            extra={"guarded": True},  # it sends what was said
        ),
    ] = False
    minutes: Annotated[
        int, Meta(ge=1, le=10_080, description="In the background it syncs at most every so many minutes.")
    ] = 10


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
            description="Conversations that nobody wrote to or recalled for so many days are archived; 0 archives none "
            "by age.",
            extra={"guarded": True},
        ),
    ] = 0
    delete_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="Conversations that nobody wrote to or recalled for so many days are deleted, for good; 0 "
            "deletes none by age.",
            extra={"guarded": True},
        ),
    ] = 0
    rules: Annotated[
        tuple[RetentionRule, ...],
        Meta(
            description="Rules for some conversations, by kind (any, chat, one-shot, import), label and pattern of the "
            "title: the first that matches holds, and those that none matches go by the two settings above. "
            "`[{label: trip, archive_days: 90}, {kind: one-shot, delete_days: 30}]`",
            extra={"guarded": True},
        ),
    ] = ()
    keep_important: Annotated[
        bool,
        Meta(
            description="Whether conversations with an observation that is critical (🔴) or a decision (🟤) stay.",
            extra={"guarded": True},
        ),
    ] = True
    background: Annotated[
        bool,
        Meta(
            description="Whether the chat archives by these rules by itself, once a day, and says what it did. It "
            "never deletes by itself.",
            extra={"guarded": True},
        ),
    ] = False
    propose_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="The chat proposes to archive what nobody touched for so many days, where that is a megabyte "
            "or more; 0 never does. `/clean` shows it at any time.",
        ),
    ] = 30


class CheckSettings(Struct, frozen=True, kw_only=True):
    """How often what is stored is compared with its hashes in the background."""

    sample_days: Annotated[
        int,
        Meta(
            ge=0,
            le=365,
            description="After so many days a sample of what is stored is compared with its hashes, for a few seconds; "
            "in time all of it. 0 never does.",
        ),
    ] = 7


class DiskSettings(Struct, frozen=True, kw_only=True):
    """When to warn of the room that memory takes."""

    budget_mb: Annotated[
        int,
        Meta(
            ge=0,
            description="The room that this workspace's memory may take, in megabytes: from nine tenths of it on there "
            "is a warning. 0 for no limit. Nothing is deleted for it.",
        ),
    ] = 5_000
    free_mb: Annotated[
        int,
        Meta(
            ge=0,
            description="Warn where fewer megabytes than these are free on the workspace's disk; 0 never does.",
        ),
    ] = 1_000
