"""Names the part of a list or a mapping that is no value: the entry, the field, and what it takes."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast, get_args, get_origin

import msgspec

from agent.config.powers import SHORT_REPR
from agent.config.settings import Setting, is_struct, split_annotated, type_label


def wrong_part(setting: Setting, value: Any, *, strict: bool) -> str:
    """A sentence about the first part of the value that msgspec does not convert; "" where the whole is of another
    type than the setting. `strict` is that of the conversion."""
    steps, problem = _first(setting.kind, value, strict)
    return f"`{setting.name}`, {', '.join(steps)}: {problem}" if steps else ""


def _first(kind: Any, value: Any, strict: bool) -> tuple[tuple[str, ...], str]:
    """The way to the first wrong part, and what is wrong there."""
    bare, _ = split_annotated(kind)
    if is_struct(bare) and isinstance(value, dict):
        fields = {field.encode_name: field for field in msgspec.structs.fields(bare)}
        if bare.__struct_config__.forbid_unknown_fields:
            unknown = next((name for name in cast("dict[Any, Any]", value) if name not in fields), None)
            if unknown is not None:
                return (f"`{unknown}`",), f"unknown field. Allowed: {', '.join(fields)}."
        missing = next((field for name, field in fields.items() if field.required and name not in value), None)
        if missing is not None:
            return (f"`{missing.encode_name}`",), f"missing field. Allowed: {type_label(missing.type)}."
    for step, part_kind, part in _parts(bare, value):
        if not _fits(part_kind, part, strict):
            steps, problem = _first(part_kind, part, strict)
            return (step, *steps), problem
    return (), f"{SHORT_REPR.repr(value)} is not valid. Allowed: {type_label(kind)}."


def _parts(kind: Any, value: Any) -> Iterator[tuple[str, Any, Any]]:
    """The entries or fields of the value: how each is named, its type and its value."""
    if isinstance(value, list) and get_origin(kind) in {list, tuple}:
        for number, entry in enumerate(cast("list[Any]", value), 1):
            yield f"entry {number}", get_args(kind)[0], entry
    elif isinstance(value, dict) and get_origin(kind) is dict:
        for name, entry in cast("dict[Any, Any]", value).items():
            yield f"`{name}`", get_args(kind)[1], entry
    elif isinstance(value, dict) and is_struct(kind):
        for field in msgspec.structs.fields(kind):
            if field.encode_name in value:
                yield f"`{field.encode_name}`", field.type, cast("dict[Any, Any]", value)[field.encode_name]


def _fits(kind: Any, value: Any, strict: bool) -> bool:
    with suppress(msgspec.ValidationError):
        msgspec.convert(value, kind, strict=strict)
        return True
    return False
