"""Export of one conversation to a named file."""

import json
from pathlib import Path

from agent.exporters.jsonl import jsonl_objects
from agent.exporters.markdown import markdown_pieces
from foundation.errors import Misuse
from foundation.files import exists, resolve_path, write_atomically
from foundation.privacy import as_given
from memory.memory import Memory
from memory.records import Conversation


def export_to_file(memory: Memory, conversation: Conversation, name: str) -> Path:
    """Writes the conversation in the format of the suffix (.jsonl, else Markdown); overwrites no file.

    The default name is `<conversation id>.md` in the workspace's root.
    """
    path = Path(name).expanduser() if name else Path(memory.mirrors.file_name(conversation))
    if not path.is_absolute():
        path = memory.workspace.root / path
    folder = resolve_path(path.parent)
    if exists(folder / path.name):
        raise Misuse("There already", f"{path} is there already.", "Give another name.")
    if not path.parent.is_dir():
        raise Misuse("No such folder", f"There is no folder {path.parent}.", "Make it first.")
    if path.suffix == ".jsonl":
        text = "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in jsonl_objects(memory, conversation))
    else:
        text = "".join(markdown_pieces(memory, conversation))
    write_atomically(folder / path.name, as_given(text))  # stored text was cleared when it was stored
    return path
