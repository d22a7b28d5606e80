"""Differences between the index and a manifest, fact by fact."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import structs

from memory.archive.packs.manifest import PackManifest
from memory.records import IntegrityProblem

Key = tuple[str, ...]
"""What a fact is about: its kind (pack, archive, page, held, passage, conversation, entry), and its own name."""
Fields = dict[str, Any]


def facts(manifest: PackManifest) -> dict[Key, Fields]:
    """Facts by key. Archives and conversations are identified by their number in the index."""
    found: dict[Key, Fields] = {}
    if manifest.pack:
        found["pack", manifest.pack] = {
            name: getattr(manifest, name) for name in ("size", "sha256", "kind", "created_ms")
        }
    for archive in manifest.archives:
        found["archive", str(archive.seq)] = structs.asdict(archive)
    for page in manifest.pages:
        archive = manifest.archives[page.archive].seq
        found["page", page.id] = structs.asdict(page) | {"archive": archive, "pack": manifest.pack}
    for held in manifest.held:
        archive = manifest.archives[held.archive].seq
        found["held", str(archive), str(held.number)] = structs.asdict(held) | {"archive": archive}
    for passage in manifest.passages:
        found["passage", passage.hash, str(passage.part)] = structs.asdict(passage)
    for conversation in manifest.conversations:
        found["conversation", str(conversation.seq)] = structs.asdict(conversation)
    for entry in manifest.entries:
        conversation = manifest.conversations[entry.conversation].seq
        found["entry", str(entry.seq)] = structs.asdict(entry) | {"conversation": conversation}
    return found


def alike(here: Fields | None, there: Fields | None) -> bool:
    """Whether both facts agree. Titles of conversations may differ: the user edits them, and no manifest is rewritten
    for that."""
    if here is None or there is None:
        return here is there
    return here == there or here | {"title": ""} == there | {"title": ""}


def differences(index: Mapping[Key, Fields], sealed: Mapping[Key, Fields]) -> Iterator[IntegrityProblem]:
    """A problem for each fact in which the two differ."""
    for key in sorted(index.keys() | sealed.keys()):
        here, there = index.get(key), sealed.get(key)
        if alike(here, there):
            continue
        name = _name(key, there or here or {})
        if here is None:
            yield IntegrityProblem(key[0], name, "It is in the manifest of its pack, but not in the index.")
        elif there is None:
            yield IntegrityProblem(key[0], name, "It is in the index, but not in the manifest of its pack.")
        else:
            said = "; ".join(
                f"{field} is {_short(here[field])} in the index and {_short(there[field])} in the manifest"
                for field in there
                if here[field] != there[field] and field != "title"
            )
            yield IntegrityProblem(key[0], name, f"The index and the manifest differ: {said}.")


def _name(key: Key, fields: Fields) -> str:
    kind = key[0]
    if kind in ("entry", "conversation", "page"):
        return str(fields.get("id", key[1]))
    if kind == "archive":
        return f"#{key[1]} “{fields.get('label', '')}”"
    return str(fields.get("page", key[1])) if kind in ("held", "passage") else key[1]


def _short(value: object) -> str:
    words = str(value)
    return words if len(words) <= 60 else words[:60] + "…"
