"""Changing one value of a configuration file: its comments, its order and everything else stay as they are.

PyYAML's marks say where the value stands, and the text is cut there, so that all else stays to the byte. ruamel.yaml
writes the whole file anew: of eight files with usual layouts it changed seven (indents, blanks, line ends, `~`, `---`).
"""

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import yaml

from agent.config.config import sections
from agent.config.files import ConfigError, ConfigValue, compose, values_in
from agent.config.secrets import text_without_secrets
from agent.config.settings import Setting
from foundation.errors import Misuse, PalimpsestError
from foundation.files import encode, make_private_folder, read_bytes, write_atomically
from foundation.files.untrusted import MOST_BYTES
from foundation.privacy import as_given
from foundation.program import PROGRAM


def save_value(path: Path, versions: Path, setting: Setting, value: Any) -> None:
    """Sets `setting` to `value` (as `value_from` gives it) in the file, which as it was is kept in `versions`.

    Raises ConfigError where the file cannot be changed without loss.
    """
    try:
        raw = read_bytes(path, most=MOST_BYTES, owned=True)
        text = raw.decode("utf-8-sig")
    except FileNotFoundError:
        raw, text = b"", ""
    except OSError as error:
        said = error.message if isinstance(error, PalimpsestError) else f"It cannot be read: {error.strerror}."
        raise ConfigError("Not readable", str(path), said, "Put a text file in its place.") from error
    except UnicodeDecodeError as error:
        raise ConfigError("Not text", str(path), "It is not UTF-8 text.", "Save it as UTF-8.") from error
    changed = with_value(text, setting.name, value, path, sections())
    make_private_folder(path.parent)
    if raw:
        make_private_folder(versions)
        kept = text_without_secrets(text)
        write_atomically(versions / f"config-{hashlib.sha256(encode(kept)).hexdigest()[:12]}.yaml", kept)
    write_atomically(path, as_given(changed))


def value_from(setting: Setting, words: str) -> Any:
    """The words as the setting's type. Raises Misuse where they are no such value."""
    try:
        return msgspec.to_builtins(msgspec.convert(words, setting.kind, strict=False))
    except msgspec.ValidationError as error:
        said = f"`{setting.name}` is {setting.type_name}, not “{words}”."
        raise Misuse("Not a value", said, f"`{PROGRAM} config show {setting.name}` says more.") from error


def with_value(text: str, name: str, value: Any, path: Path, sections: frozenset[str]) -> str:
    """`text` with the dotted `name` set to `value`. Raises ConfigError where that cannot be done without loss."""
    before = _as_dict(values_in(text, path, sections))
    changed = _spliced(text, name, _dumped(value), path)
    try:
        after = _as_dict(values_in(changed, path, sections))
    except ConfigError:  # ours, not the person's: their file was read above
        after = None
    if after != {**before, name: value}:
        raise ConfigError(
            "Not changed",
            str(path),
            "The file is written in a way that cannot be changed here without loss.",
            f"Open it and set `{name}` by hand.",
        )
    return changed


def _spliced(text: str, name: str, dumped: str, path: Path) -> str:
    parts = name.split(".")
    node = compose(text, path)
    depth = 0
    at = 0 if node is None else -1
    while node is not None and depth < len(parts):
        if node.id != "mapping" or node.flow_style:
            break
        found = next((value for key, value in node.value if key.value == parts[depth]), None)
        if found is None:
            at = _end_of(node, text)
            break
        depth, node = depth + 1, found
    if depth == len(parts) and node is not None:
        return text[: node.start_mark.index] + _space(text, node) + dumped + text[node.end_mark.index :]
    if at < 0:  # an empty section, or one in braces: said again by the check above
        at = node.end_mark.index if node is not None else 0
    indent = node.start_mark.column if node is not None and depth else 2 * depth
    return _inserted(text, at, parts[depth:], indent, dumped)


def _inserted(text: str, at: int, parts: list[str], indent: int, dumped: str) -> str:
    lines = [" " * (indent + 2 * n) + part + ":" for n, part in enumerate(parts)]
    lines[-1] += " " + dumped
    head, tail = text[:at], text[at:]
    if head and not head.endswith("\n"):
        head += "\n"
    return head + "\n".join(lines) + "\n" + tail


def _end_of(mapping: Any, text: str) -> int:
    """Just after the line that the mapping's last value ends on."""
    last = mapping.value[-1][1]
    while last.id == "mapping" and last.value and not last.flow_style:
        last = last.value[-1][1]
    end = last.end_mark.index
    while end > 0 and text[end - 1 : end] in {"\n", " "} and last.id != "scalar":
        end -= 1
    newline = text.find("\n", end)
    return len(text) if newline < 0 else newline + 1


def _space(text: str, node: Any) -> str:
    """A value that was left empty begins right behind its colon."""
    return " " if text[: node.start_mark.index].endswith(":") else ""


def _dumped(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6)
    return text.removesuffix("\n").removesuffix("\n...")


def _as_dict(found: list[ConfigValue]) -> dict[str, Any]:
    return {one.name: one.value for one in found}
