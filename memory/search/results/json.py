"""Results as the program prints them."""

from typing import Any

from foundation.clock import iso
from memory.search.query.query import Hit, SearchResults

SCHEMA = 1


def to_json(results: SearchResults) -> dict[str, Any]:
    """The object of `search --json`: plain values, `found` false where nothing is likely to answer. `anchor` is
    there where the hits are a timeline around one of them."""
    shown: dict[str, Any] = {
        "schema": SCHEMA,
        "query": results.query,
        "took_ms": results.took_ms,
        "found": results.found,
        "total": results.total,
        "next": results.next,
        "hits": [hit_to_json(hit) for hit in results.hits],
        "likelihood": round(results.likelihood, 3),
    }
    return {**shown, "anchor": results.anchor} if results.anchor else shown


def hit_to_json(hit: Hit) -> dict[str, Any]:
    """One hit. `entry` is the entry's id, None for a note; `marks` are spans of the snippet's characters; `parts` is
    there where the query asked to explain."""
    shown: dict[str, Any] = {
        "id": hit.id,
        "kind": hit.kind,
        "conversation": hit.conversation or None,
        "entry": hit.entry_id or None,
        "time": iso(hit.time) if hit.time else None,
        "role": hit.role or None,
        "speaker": hit.speaker or None,
        "score": round(hit.score, 4),
        "snippet": hit.snippet,
        "citation": str(hit.citation),
        "trust": hit.trust.value,
        "superseded_by": hit.superseded_by or None,
        "marks": hit.marks,
        "like": hit.like,
    }
    return {**shown, "parts": hit.parts} if hit.parts else shown
