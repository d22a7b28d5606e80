"""One conversation into a file that a person names."""

import json
from pathlib import Path

from agent.exporters.jsonl import lines
from agent.exporters.markdown import markdown
from foundation.errors import Misuse
from foundation.files import exists, resolve_path, write_atomically
from foundation.privacy import as_given
from memory.memory import Memory
from memory.records import Conversation


def export_to_file(memory: Memory, conversation: Conversation, asked: str) -> Path:
    """Writes the conversation as the name's ending says (.jsonl, else Markdown); never over a file that is there.

    Without a name it is `<conversation id>.md` in the workspace's root.
    """
    path = Path(asked).expanduser() if asked else Path(memory.mirrors.file_name(conversation))
    if not path.is_absolute():
        path = memory.workspace.root / path
    folder = resolve_path(path.parent)
    if exists(folder / path.name):
        raise Misuse("There already", f"{path} is there already.", "Give another name.")
    if not path.parent.is_dir():
        raise Misuse("No such folder", f"There is no folder {path.parent}.", "Make it first.")
    if path.suffix == ".jsonl":
        text = "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines(memory, conversation))
    else:
        text = "".join(markdown(memory, conversation))
    write_atomically(folder / path.name, as_given(text))  # what comes from the store was cleared on its way in
    return path
