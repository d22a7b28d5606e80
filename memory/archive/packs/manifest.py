"""Manifests: beside each pack the index's rows of it, so that the index can be rebuilt from packs alone.

An archiving that made no page of its own, because all text was on pages already, leaves a manifest and no pack.

    magic │ a zstd frame of JSON │ SHA-256 of all before it

A long manifest is split into parts, `<stem>.manifest`, `<stem>.2.manifest`, …; each can be read alone.
"""

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct, structs

from foundation.names import PACK, PAGE, WORKSPACE_ID
from foundation.program import PROGRAM
from foundation.typed_json import decode_json
from memory.archive.packs.storage import Storage
from memory.errors import Damaged
from memory.names import shown, vetted
from memory.zstd import packer, unpack

SUFFIX = ".manifest"
PACKLESS = "no-pack"
WORKSPACE = "workspace.id"  # beside the packs: identifies manifests of another workspace
MAGIC = b"palimpsest-facts\x00\x01"
LONGEST = 16 * 2**20  # bytes of JSON in one part: read, they take a tenth of a gigabyte at most
PAGES_A_PART = 4_000
ENTRIES_A_PART = 20_000

_LONGEST_ID = 64  # bytes of the file that holds it
_NAME = re.compile(r"(?P<stem>[^.]+)(\.(?P<part>[1-9]\d{0,3}))?\.manifest")


class ForeignPack(Damaged):
    """The manifest is sound, and of a pack from another workspace."""


class ArchiveFact(Struct, frozen=True, kw_only=True):
    """One archive that has pages or entries here. Times are milliseconds since 1970, UTC."""

    seq: int  # its number in the index
    label: str
    created_ms: int
    origin: str  # file | conversation | knowledge
    tags: tuple[str, ...] = ()
    pinned: bool = False
    bare: bool = False
    conversation: int = 0  # its number in the index, 0 for none


class PageFact(Struct, frozen=True, kw_only=True):
    """One page's row; `archive` counts in `PackManifest.archives`."""

    id: str
    archive: int
    number: int
    mode: str
    cell: str  # 8x16 | 6x12
    position: int
    chars: int
    sha256: str  # of the page's text, hex
    text_tokens: int
    vision_tokens: int
    factsheet: tuple[str, ...] = ()


class ConversationFact(Struct, frozen=True, kw_only=True):
    """A conversation of the entries."""

    seq: int  # its number in the index
    source: str
    id: str
    title: str
    created_ms: int
    kind: str


class EntryFact(Struct, frozen=True, kw_only=True):
    """An entry whose text is on pages. `spans` are (start, length, page id, start on the page), in characters.

    `seq` is its number in the index: it distinguishes deleted entries from lost ones.
    """

    seq: int
    conversation: int  # counts in `PackManifest.conversations`
    id: str
    parent: str  # its id; "" for none
    kind: str
    role: str
    speaker: str
    time_ms: int
    chars: int
    sha256: str  # of the entry's text, hex
    spans: tuple[tuple[int, int, str, int], ...]
    meta: str = ""  # JSON, "" for none
    sent: str = ""  # SHA-256 of the parts sent with it, hex, "" for none
    complete: bool = True
    terms: str = ""  # SHA-256 of its terms' row, hex


class HeldFact(Struct, frozen=True, array_like=True):
    """An archive's page of that number is a page of this pack, which may have been drawn for another archive."""

    archive: int  # counts in `PackManifest.archives`
    number: int
    page: str


class PassageFact(Struct, frozen=True, array_like=True):
    """Location of a passage that is stored once; `hash` is hex, offsets are in characters of the page's text."""

    hash: str
    part: int
    page: str
    page_start: int
    length: int


class PackManifest(Struct, frozen=True, kw_only=True):
    """Facts of one pack. `pack` is its file's name, "" where there is none."""

    schema: int = 1
    workspace: str = ""  # whose it is; `write_manifest` fills it in
    part: int = 1
    parts: int = 1
    pack: str = ""
    size: int = 0
    sha256: str = ""
    kind: str = "warm"  # warm | symbols | cold, until 0.3.2
    created_ms: int = 0
    archives: tuple[ArchiveFact, ...] = ()
    pages: tuple[PageFact, ...] = ()
    held: tuple[HeldFact, ...] = ()
    passages: tuple[PassageFact, ...] = ()
    conversations: tuple[ConversationFact, ...] = ()
    entries: tuple[EntryFact, ...] = ()


def manifest_name(pack: str) -> str:
    """File name of a pack's manifest; "" is for archives without a page of their own."""
    return (pack.partition(".")[0] or PACKLESS) + SUFFIX


def manifest_names(storage: Storage) -> list[str]:
    """File names of all manifests, further parts included."""
    return [name for name in storage.names() if _NAME.fullmatch(name)]


def parts_of(name: str, names: Sequence[str]) -> list[str]:
    """Those of the names that are parts of the manifest `name`, in order."""
    stem = name.partition(".")[0]
    parts = [
        (int(match["part"] or 1), candidate)
        for candidate in names
        if (match := _NAME.fullmatch(candidate)) and match["stem"] == stem
    ]
    return [candidate for _, candidate in sorted(parts)]


def write_manifest(storage: Storage, manifest: PackManifest) -> str:
    """Writes a pack's manifest, and replaces its earlier one; gives the name of its first part."""
    names = storage.names()
    name = manifest_name(manifest.pack)
    stem, old_parts = name.partition(".")[0], parts_of(name, names)
    manifest = structs.replace(manifest, workspace=_workspace_id_or_new(storage, names))
    written: list[str] = []
    parts = list(_parts(manifest))
    for number, part in enumerate(parts, 1):
        written.append(name if number == 1 else f"{stem}.{number}{SUFFIX}")
        storage.write(written[-1], encode_manifest(structs.replace(part, part=number, parts=len(parts))))
    for outdated in set(old_parts) - set(written):
        storage.delete(outdated)
    return name


def delete_manifest(storage: Storage, pack: str) -> None:
    """Deletes all parts of a pack's manifest; quiet where there is none."""
    for name in parts_of(manifest_name(pack), storage.names()):
        storage.delete(name)


def encode_manifest(manifest: PackManifest) -> bytes:
    body = MAGIC + packer()(msgspec.json.encode(manifest))
    return body + hashlib.sha256(body).digest()


def read_manifest(storage: Storage, name: str) -> PackManifest:
    """Reads one part. Raises Damaged where it does not match its hash, or is longer than allowed."""
    size = storage.size(name)
    if size > LONGEST:
        raise _damaged_manifest(storage, name, f"it has {size:,} bytes")
    body = storage.read(name)
    sealed, sha256 = body[:-32], body[-32:]
    if not body.startswith(MAGIC) or hashlib.sha256(sealed).digest() != sha256:
        raise _damaged_manifest(storage, name, "its SHA-256 differs")
    try:
        manifest = decode_json(unpack(sealed[len(MAGIC) :], limit=LONGEST), PackManifest)
    except (msgspec.DecodeError, Damaged) as error:
        raise _damaged_manifest(storage, name, f"it cannot be read ({error})") from error
    if manifest_name(manifest.pack).partition(".")[0] != name.partition(".")[0]:
        raise _damaged_manifest(
            storage, name, f"it describes another pack, {shown(manifest.pack) if manifest.pack else 'none'}"
        )
    _check_names(manifest, name)
    return manifest


def _check_names(manifest: PackManifest, name: str) -> None:
    if manifest.pack:
        vetted(PACK, manifest.pack, name)
    for page_id in (*(page.id for page in manifest.pages), *(held.page for held in manifest.held)):
        vetted(PAGE, page_id, name)
    for page_id in (
        *(passage.page for passage in manifest.passages),
        *(s[2] for entry in manifest.entries for s in entry.spans),
    ):
        vetted(PAGE, page_id, name)


def read_parts(storage: Storage, pack: str, names: Sequence[str]) -> list[PackManifest]:
    """All parts of a pack's manifest, none where there is none. Raises Damaged unless every part is there, sound and of
    this workspace."""
    parts = [(name, read_manifest(storage, name)) for name in parts_of(manifest_name(pack), names)]
    own_id = workspace_id(storage, names)
    for number, (name, part) in enumerate(parts, 1):
        if (part.part, part.parts) != (number, len(parts)):
            raise _damaged_manifest(
                storage, name, f"it is part {part.part} of {part.parts}, but {len(parts)} exist here"
            )
        if part.workspace != own_id:
            raise ForeignPack(
                "A manifest of another workspace",
                f"{name} in {storage.place} is of workspace {part.workspace}; this one is {own_id or 'lost'}.",
                "Move the pack and its manifest to where they belong.",
            )
    return [part for _, part in parts]


def workspace_id(storage: Storage, names: Sequence[str]) -> str:
    """The workspace id of the manifests here; "" where none was written yet, or its file is lost. Raises Damaged."""
    id_ = _stored_workspace_id(storage, names)
    if id_ and not WORKSPACE_ID.fits(id_):
        raise Damaged(
            "Damaged archive",
            f"{WORKSPACE} in {storage.place} contains {shown(id_)} instead of {WORKSPACE_ID.noun}.",
            f"`{PROGRAM} check --repair` restores the id from the manifests.",
        )
    return id_


def restore_workspace_id(storage: Storage, copy_to_quarantine: Callable[[], None]) -> str:
    """Restores a lost or damaged workspace id: the one that most manifests have. Gives what was done, as sentences.

    `copy_to_quarantine` copies a damaged id file to quarantine before it is rewritten.
    """
    names = storage.names()
    stored = _stored_workspace_id(storage, names)
    if WORKSPACE_ID.fits(stored):
        return ""
    counts: Counter[str] = Counter()
    for name in manifest_names(storage):
        with suppress(Damaged):
            counts[read_manifest(storage, name).workspace] += 1
    most_common = next((id_ for id_, _ in counts.most_common() if WORKSPACE_ID.fits(id_)), "")
    if stored:
        copy_to_quarantine()
    if most_common:
        storage.write(WORKSPACE, most_common.encode("ascii"))
        return f"{WORKSPACE}: it was {'damaged' if stored else 'lost'}; restored from the manifests."
    if not stored:
        return ""
    storage.delete(WORKSPACE)
    return f"{WORKSPACE}: it was damaged and is in no manifest; the next manifest gets a new id."


def _stored_workspace_id(storage: Storage, names: Sequence[str]) -> str:
    if WORKSPACE not in names or storage.size(WORKSPACE) > _LONGEST_ID:
        return ""
    return storage.read(WORKSPACE).decode("ascii", "replace").strip()


def _workspace_id_or_new(storage: Storage, names: Sequence[str]) -> str:
    if id_ := workspace_id(storage, names):
        return id_
    new_id = secrets.token_hex(16)
    storage.write(WORKSPACE, new_id.encode("ascii"))
    return new_id


def _parts(manifest: PackManifest) -> Iterator[PackManifest]:
    """Splits the manifest into parts below the size limit: pages with archives, entries with conversations."""
    pages, entries = manifest.pages, manifest.entries
    if len(pages) <= PAGES_A_PART and len(entries) <= ENTRIES_A_PART:
        yield manifest
        return
    bare = structs.replace(manifest, archives=(), pages=(), held=(), passages=(), conversations=(), entries=())
    for start in range(0, len(pages), PAGES_A_PART):
        page_batch = pages[start : start + PAGES_A_PART]
        ids = {page.id for page in page_batch}
        yield structs.replace(
            bare,
            archives=manifest.archives,
            pages=page_batch,
            held=tuple(fact for fact in manifest.held if fact.page in ids),
            passages=tuple(fact for fact in manifest.passages if fact.page in ids),
        )
    for start in range(0, len(entries), ENTRIES_A_PART):
        entry_batch = entries[start : start + ENTRIES_A_PART]
        used = sorted({entry.conversation for entry in entry_batch})
        new_index = {old: new for new, old in enumerate(used)}
        yield structs.replace(
            bare,
            conversations=tuple(manifest.conversations[index] for index in used),
            entries=tuple(structs.replace(entry, conversation=new_index[entry.conversation]) for entry in entry_batch),
        )


def _damaged_manifest(storage: Storage, name: str, why: str) -> Damaged:
    return Damaged(
        "Damaged manifest",
        f"{name} in {storage.place}: {why}.",
        f"`{PROGRAM} check --repair` rewrites it from the index.",
    )
