"""Every command that prints JSON prints what its schema in docs/json says, in one walk through a workspace.

The fixture `json_in_shape` holds what every other test prints to the same schemas.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agent.cli.group import LazyGroup
from agent.cli.root import COMMANDS, palimpsest
from tests.agent.cli.json_shapes import SCHEMAS, schema_name
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(120)

NO_SHAPE = {"chat", "config-schema"}  # what opens the screen, and what prints a schema
NOT_OF_A_COMMAND = {"input", "print", "error", "config"}  # `-p`, any error, and what `config schema` prints


def _commands(group: click.Group, path: str) -> Iterator[str]:
    context = click.Context(group, info_name=path)
    names = COMMANDS if isinstance(group, LazyGroup) else group.commands
    for name in names:
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}"


def test_every_command_has_a_schema_and_every_schema_a_command() -> None:
    wanted = {schema_name(path) for path in _commands(palimpsest, "palimpsest")} - NO_SHAPE
    kept = {path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json")}
    assert kept - NOT_OF_A_COMMAND == wanted


def test_a_walk_through_every_command(run: Run, bare: Run, root: Path, tmp_path: Path) -> None:
    exported = tmp_path / "talk.jsonl"
    lines = [{"role": "user", "text": "The boiler is old."}, {"role": "assistant", "text": "How old?"}]
    exported.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    note, text = tmp_path / "note.md", tmp_path / "text.txt"
    note.write_text("# Boiler\n\nIt was serviced in May by Ann.\n\n# Roof\n\nIt leaks.\n", encoding="utf-8")
    text.write_text("A text of some lines.\n" * 40, encoding="utf-8")
    workspace = str(root)

    def said(*words: str, status: int = 0) -> dict[str, object]:
        ran = run("--json", *words)
        assert ran.status == status, (words, ran.out[-400:], ran.err)
        return ran.json if ran.out else {}

    bare("--json", "init", str(tmp_path / "another"))
    run("-p", "How is the boiler?", "--output-format", "json")
    run("-p", "How is the boiler?", "--output-format", "stream-json")
    run("-p", "/context", "--output-format", "json")
    said("remember", "The boiler is green.")
    notes = said("memory", "list")["notes"]
    assert isinstance(notes, list)
    said("memory", "show", notes[0]["id"])
    said("memory", "edit", notes[0]["id"], "The boiler is blue.")
    run("-p", "We decided to keep the old boiler.", "--output-format", "json")
    observations = said("observations", "list")["observations"]
    assert isinstance(observations, list)
    said("observations", "edit", observations[0]["id"], "Keep the old boiler")
    said("observations", "delete", observations[0]["id"], "--yes")
    said("import", str(exported))
    said("context", "And the boiler?")
    said("search", "boiler")
    said("search", "boiler", "--explain")
    said("search", "--recent")
    said("recall", "boiler")
    conversations = said("conversations", "list")["conversations"]
    assert isinstance(conversations, list)
    first, last = conversations[0]["id"], conversations[-1]["id"]
    entries = said("conversations", "show", first)["entries"]
    assert isinstance(entries, list)
    said("search", "--around", entries[0]["id"])
    said("recall", entries[0]["id"])
    said("conversations", "rename", first, "Another title")
    run("export", "--to", "jsonl", first)
    said("archive", str(text), "--label", "long")
    said("recall", "long")
    said("archive", "--demo")
    said("archive", "--list")
    said("archive", "--tag", "long", "house")
    said("archive", "--untag", "long", "house")
    said("archive", "--rename", "long", "longer")
    said("archive", "--pin", last)
    said("archive", "--unpin", last)
    said("archive", "--growing", "--older-than", "1d", "--dry-run")
    said("archive", "--growing", "--older-than", "1d")
    said("archive", "--repack")
    said("knowledge", "add", str(note), "--category", "house")
    said("knowledge", "list")
    said("knowledge", "show", "note.md")
    said("knowledge", "importance")
    said("knowledge", "importance", "note.md", "9")
    said("knowledge", "category", "note.md", "roof")
    said("knowledge", "stats")
    said("knowledge", "remove", "note.md", "--yes")
    said("models", "list")
    said("models", "test", "offline")
    said("models", "use", "offline")
    said("config", "show")
    said("config", "show", "model")
    said("config", "set", "context.reserve", "2000")
    said("config", "validate")
    said("config", "schema")
    said("config", "trust")
    said("config", "distrust")
    bare("--json", "trust", workspace)
    bare("--json", "trust", "--list")
    bare("--json", "trust", workspace, "--remove")
    bare("--json", "trust", workspace)
    said("stats")
    said("check")
    said("check", "--repair")
    said("backup", "create", str(tmp_path / "backup"))
    said("backup", "list", str(tmp_path / "backup"))
    said("backup", "check", str(tmp_path / "backup"))
    said("backup", "restore", str(tmp_path / "backup"), str(tmp_path / "again"))
    run("--json", "doctor")
    said("conversations", "delete", last, "--yes")
    said("forget", "boiler", "--dry-run")
    said("forget", "boiler", "--yes")
    said("forget")
