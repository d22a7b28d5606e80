"""Adds the projects and memories of an export of Claude to knowledge, as files of the workspace."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from agent.importers.formats import detect, read_knowledge
from agent.importers.settings import ImportSettings
from foundation.errors import PalimpsestError
from foundation.files import child, make_folder, write_atomically
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.knowledge.ingest.report import AddOptions
from memory.memory import Memory


def add_export_knowledge(memory: Memory, workspace: Workspace, files: Sequence[Path], limits: ImportSettings) -> int:
    """Writes each text below `imported/` and adds it to knowledge; returns their number. Other files have none."""
    texts = [text for file in files for text in _texts(file, limits)]
    paths: dict[Path, None] = {}
    for name, text in texts:
        mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        slug = re.sub(r"[^\w-]+", "-", clear(name)).strip("-")[:60]
        path = child(workspace.imported_knowledge, f"claude-{slug}-{mark}.md")
        make_folder(path.parent)
        write_atomically(path, clear(f"# {name}\n\n{text}\n"))
        paths[path] = None
    if paths:
        memory.knowledge.add(list(paths), AddOptions(category="Claude"))
    return len(paths)


def _texts(file: Path, limits: ImportSettings) -> list[tuple[str, str]]:
    try:
        if detect(file, limits) != "claude":
            return []
        return [(name, text) for name, text in read_knowledge(file, limits) if text.strip()]
    except (PalimpsestError, OSError):  # the import reports it
        return []
