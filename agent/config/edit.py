"""Sets one value of a configuration file and keeps its comments, its order and all other bytes.

The value is replaced in the text at the offsets that PyYAML gives. ruamel.yaml rewrites the whole file: of eight files
with usual layouts it changed seven (indents, blanks, line ends, `~`, `---`).
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import yaml

from agent.config.files import ConfigError, ConfigValue, compose_node, parse_values
from agent.config.secrets import text_without_secrets
from agent.config.settings import Setting, sections
from agent.config.wrong_part import wrong_part
from foundation.errors import Misuse, PalimpsestError
from foundation.files import encode, make_private_folder, read_bytes, write_atomically
from foundation.files.untrusted import MOST_BYTES
from foundation.privacy import as_given
from foundation.program import PROGRAM
from foundation.yaml import BadYaml, load_yaml


class NotAValue(Misuse):
    """The text is of another type than the setting. The hint names the command that describes the setting."""


def save_value(path: Path, versions: Path, setting: Setting, value: Any) -> None:
    """Sets `setting` to `value` (see `parse_value`) in the file, and keeps the file's previous version in `versions`.

    Raises ConfigError where the file cannot be changed without loss.
    """
    _rewrite(path, versions, lambda text: set_in_text(text, setting.name, value, path, sections()))


def remove_value(path: Path, versions: Path, setting: Setting) -> None:
    """Takes `setting` out of the file, and keeps the file's previous version in `versions`.

    Raises ConfigError where the file cannot be changed without loss.
    """
    _rewrite(path, versions, lambda text: removed_from_text(text, setting.name, path, sections()))


def _rewrite(path: Path, versions: Path, change: Callable[[str], str]) -> None:
    try:
        raw = read_bytes(path, most=MOST_BYTES, owned=True)
        text = raw.decode("utf-8-sig")
    except FileNotFoundError:
        raw, text = b"", ""
    except OSError as error:
        problem = error.message if isinstance(error, PalimpsestError) else f"It cannot be read: {error.strerror}."
        raise ConfigError("Not readable", str(path), problem, "Replace it with a text file.") from error
    except UnicodeDecodeError as error:
        raise ConfigError("Not text", str(path), "It is not UTF-8 text.", "Save it as UTF-8.") from error
    changed = change(text)
    if changed == text:
        return
    make_private_folder(path.parent)
    if raw:
        make_private_folder(versions)
        redacted = text_without_secrets(text)
        write_atomically(versions / f"config-{hashlib.sha256(encode(redacted)).hexdigest()[:12]}.yaml", redacted)
    write_atomically(path, as_given(changed))


def parse_value(setting: Setting, text: str) -> Any:
    """Converts the text to the setting's type; a list or a mapping is written as in YAML: `[a, b]`, `{a: b}`.

    Raises Misuse for an invalid value.
    """
    written: Any = text
    try:
        written = load_yaml(text) if setting.is_compound else text
        value = msgspec.json.decode(msgspec.json.encode(msgspec.convert(written, setting.kind, strict=False)))
        setting.check(value)
        return value
    except (msgspec.ValidationError, BadYaml, UnicodeEncodeError) as error:  # half of a surrogate pair is no text
        part = wrong_part(setting, written, strict=False) if isinstance(error, msgspec.ValidationError) else ""
        whole = f"“{text}” is not a valid value of `{setting.name}`. Use: {setting.type_name}."
        raise NotAValue("Not a value", part or whole, f"See `{PROGRAM} config show {setting.name}`.") from error


def set_in_text(text: str, name: str, value: Any, path: Path, sections: frozenset[str]) -> str:
    """`text` with the dotted `name` set to `value`. Raises ConfigError where that cannot be done without loss."""
    before = _as_dict(parse_values(text, path, sections))
    changed = _spliced(text, name, _dumped(value), path)
    try:
        after = _as_dict(parse_values(changed, path, sections))
    except ConfigError:  # caused by this change: the file itself was read above
        after = None
    if after != {**before, name: value}:
        raise _not_changed(path, f"Open it and set `{name}` by hand.")
    return changed


def removed_from_text(text: str, name: str, path: Path, sections: frozenset[str]) -> str:
    """`text` without the dotted `name`. Raises ConfigError where that cannot be done without loss."""
    before = _as_dict(parse_values(text, path, sections))
    if name not in before:
        return text
    changed = _without(text, name, path)
    try:
        after = _as_dict(parse_values(changed, path, sections))
    except ConfigError:  # caused by this change: the file itself was read above
        after = None
    if after != {key: value for key, value in before.items() if key != name}:
        raise _not_changed(path, f"Open it and remove `{name}` by hand.")
    return changed


def _not_changed(path: Path, hint: str) -> ConfigError:
    problem = "The file uses YAML that cannot be edited here without loss."
    return ConfigError("Not changed", str(path), problem, hint)


def _without(text: str, name: str, path: Path) -> str:
    """The text without the lines of the key and its value; a section that is empty then goes too."""
    node, cut = compose_node(text, path), None
    for part in name.split("."):
        if node is None or node.id != "mapping" or node.flow_style:
            return text
        pair = next(((key, value) for key, value in node.value if key.value == part), None)
        if pair is None:
            return text
        if cut is None or len(node.value) > 1:
            cut = pair
        node = pair[1]
    if cut is None:
        return text
    key, value = cut
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    end = text.find("\n", max(value.end_mark.index - 1, key.end_mark.index))
    return text[:start] + ("" if end < 0 else text[end + 1 :])


def _spliced(text: str, name: str, dumped: str, path: Path) -> str:
    parts = name.split(".")
    node = compose_node(text, path)
    depth = 0
    offset = 0 if node is None else -1
    while node is not None and depth < len(parts):
        if node.id != "mapping" or node.flow_style:
            break
        child = next((value for key, value in node.value if key.value == parts[depth]), None)
        if child is None:
            offset = _end_of(node, text)
            break
        depth, node = depth + 1, child
    if depth == len(parts) and node is not None:
        return text[: node.start_mark.index] + _space(text, node) + dumped + text[node.end_mark.index :]
    if offset < 0:  # an empty section, or one in braces: refused by the check above
        offset = node.end_mark.index if node is not None else 0
    indent = node.start_mark.column if node is not None and depth else 2 * depth
    return _inserted(text, offset, parts[depth:], indent, dumped)


def _inserted(text: str, offset: int, parts: list[str], indent: int, dumped: str) -> str:
    lines = [" " * (indent + 2 * n) + part + ":" for n, part in enumerate(parts)]
    lines[-1] += " " + dumped
    head, tail = text[:offset], text[offset:]
    if head and not head.endswith("\n"):
        head += "\n"
    return head + "\n".join(lines) + "\n" + tail


def _end_of(mapping: Any, text: str) -> int:
    """The offset after the last line of the mapping."""
    last = mapping.value[-1][1]
    while last.id == "mapping" and last.value and not last.flow_style:
        last = last.value[-1][1]
    end = last.end_mark.index
    while end > 0 and text[end - 1 : end] in {"\n", " "} and last.id != "scalar":
        end -= 1
    newline = text.find("\n", end)
    return len(text) if newline < 0 else newline + 1


def _space(text: str, node: Any) -> str:
    """A space where an empty value begins right after its colon."""
    return " " if text[: node.start_mark.index].endswith(":") else ""


def _dumped(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6)
    return text.removesuffix("\n").removesuffix("\n...")


def _as_dict(values: list[ConfigValue]) -> dict[str, Any]:
    return {value.name: value.value for value in values}
