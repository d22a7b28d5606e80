"""Meta of summaries names entries by their seqs, which each store gives itself: on the way they are named by ids."""

from collections.abc import Callable
from typing import Any, Final, cast

_REFERENCES: Final = frozenset({"covers", "first_kept", "prior", "pinned", "undoes", "own"})


def references_of(meta: dict[str, Any]) -> dict[str, Any]:
    """Of the meta what names entries."""
    return {name: value for name, value in meta.items() if name in _REFERENCES}


def seqs_in(meta: dict[str, Any]) -> list[int]:
    """Seqs of the entries that the meta names; 0 names none."""
    return [value for value in _references(meta) if _is_seq(value)]


def ids_in(meta: dict[str, Any]) -> list[str]:
    """Ids of the entries that the meta of another device's summary names."""
    return [value for value in _references(meta) if _is_id(value)]


def by_ids(meta: dict[str, Any], ids: dict[int, str]) -> dict[str, Any]:
    """The meta with ids in place of seqs; an entry that is not there is left out of a list, else 0."""
    return _replaced(meta, _is_seq, ids)


def by_seqs(meta: dict[str, Any], seqs: dict[str, int]) -> dict[str, Any]:
    """The meta with this store's seqs in place of ids."""
    return _replaced(meta, _is_id, seqs)


def with_ids(meta: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    """The meta with other ids in place of these."""
    return _replaced(meta, _is_id, ids)


def _is_seq(value: Any) -> bool:
    return isinstance(value, int) and value > 0


def _is_id(value: Any) -> bool:
    return isinstance(value, str)


def _replaced(meta: dict[str, Any], is_named: Callable[[Any], bool], names: dict[Any, Any]) -> dict[str, Any]:
    def replaced(value: Any) -> Any:
        if isinstance(value, list):
            listed = cast("list[Any]", value)
            return [names.get(item, item) for item in listed if not is_named(item) or item in names]
        return names.get(value, 0) if is_named(value) else value

    return {name: replaced(value) if name in _REFERENCES else value for name, value in meta.items()}


def _references(meta: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    for name in _REFERENCES & meta.keys():
        value = meta[name]
        found += cast("list[Any]", value) if isinstance(value, list) else [value]
    return found
