"""Cleared text is made in foundation/privacy alone, and whoever says that a text needs no clearing says why here."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.timeout(60)  # it parses every module

PACKAGES = ("foundation", "models", "memory", "context", "agent", "tui")
TYPES = {
    "Cleared": "foundation/privacy/",
    "ClearedFields": "foundation/privacy/",
    "ClearedBytes": "foundation/privacy/",
    "ClearedParts": "models/cleared_parts.py",
}
UNEXAMINED = ("as_given", "as_made", "as_stored", "bytes_as_made", "edited", "field_as_given")
REVIEWED = {
    ("agent/services/archive.py", "as_given"): "a file that the person named, kept to the byte unless --redact",
    ("agent/cli/archive_maintenance.py", "as_made"): "a fixed label",
    ("agent/chunk_export.py", "as_given"): "an export of what the store holds, cleared on its way in",
    ("agent/cli/export.py", "as_given"): "an export of what the store holds, cleared on its way in",
    ("agent/permissions/stored_rules.py", "as_given"): "the person's own rules, with one added or removed",
    ("agent/config/edit.py", "as_given"): "the person's own configuration, with one value changed that was examined",
    ("agent/doctor/model_checks.py", "as_made"): "a fixed word",
    ("agent/exporters.py", "as_given"): "an export of what the store holds, cleared on its way in",
    (
        "agent/services/mcp_servers.py",
        "as_given",
    ): "the person's own MCP servers; the copy of it from before is redacted",
    ("agent/importers/store.py", "as_made"): "a fixed source",
    ("agent/importers/names.py", "as_made"): "an id: a hash, keyed or as versions up to 0.3.0 made it, looked up only",
    ("agent/importers/names.py", "edited"): "digits of a keyed hash behind a cleared id, cleared again",
    ("agent/turn/recorder.py", "field_as_given"): "signatures of a provider; text beside them was examined",
    ("agent/turn/store.py", "edited"): "a title: the first line of a cleared message, cut",
    ("agent/services/conversation_tree.py", "edited"): "a turn's label: a cleared text, cut, after its name",
    ("context/assembly/digest.py", "bytes_as_made"): "keyed hashes and counts of tokens",
    ("memory/archive/lifecycle/release.py", "as_stored"): "an entry's text on its way back from its pages",
    ("memory/forget/rows.py", "as_stored"): "a stored text with what is forgotten taken out",
    ("memory/forget/tables.py", "as_stored"): "a stored title or label with what is forgotten taken out",
    ("memory/upkeep/proposal.py", "as_made"): "a fixed label",
    ("memory/cold/rows.py", "as_stored"): "what came of an answer, cleared in the stream",
    ("memory/cold/recalled_results.py", "as_stored"): "a stored tool result, with some of its words taken out",
    ("memory/records.py", "as_made"): "a random id",
    ("memory/sync/registers.py", "as_stored"): "a stored title or label, cleared when it came",
    ("memory/sync/entry_ids.py", "as_stored"): "an id that another device stored, cleared when it came",
    ("memory/forgotten/tombstones.py", "as_made"): "an id made of a digest",
    ("memory/sync/encryption.py", "bytes_as_made"): "the person's key of their sync, in a file of theirs alone",
    ("memory/cold/conversations.py", "edited"): "a cleared id with lone surrogates replaced",
    ("memory/knowledge/ingest/redact.py", "as_given"): "a file that the person named, kept to the byte unless --redact",
    ("memory/library.py", "as_given"): "a text that the caller of the library names, kept to the byte",
    ("memory/search/vectors/embedders.py", "as_made"): "a fixed sentence",
    ("memory/search/vectors/passages.py", "edited"): "blanks taken off a cleared text",
}


def called(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The name and line of each call, and of each cast to a type."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        yield name, node.lineno
        if name in {"cast", "NewType"} and node.args:
            yield ast.unparse(node.args[0]).strip("'\""), node.lineno


def findings(files: dict[str, str]) -> tuple[list[str], Counter[tuple[str, str]]]:
    """Places that make cleared text where they may not, and the callers that need a reason."""
    made, callers = list[str](), Counter[tuple[str, str]]()
    for path, source in files.items():
        for name, line in called(ast.parse(source)):
            if name in TYPES and not path.startswith(TYPES[name]):
                made.append(f"{path}:{line} makes {name}")
            if name in UNEXAMINED and not path.startswith("foundation/privacy/"):
                callers[path, name] += 1
    return made, callers


@cache
def sources() -> dict[str, str]:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


def test_cleared_text_is_made_in_one_place() -> None:
    made, _ = findings(sources())
    assert made == []


def test_each_caller_that_clears_nothing_has_its_reason() -> None:
    _, callers = findings(sources())
    assert set(callers) == set(REVIEWED)


@pytest.mark.parametrize(
    "line",
    [
        "Cleared(text)",
        "privacy.Cleared(text)",
        "cast(Cleared, text)",
        'cast("Cleared", t)',
        "ClearedBytes(b)",
        "ClearedFields({})",
        "ClearedParts(())",
    ],
)
def test_the_rule_sees_one_made_elsewhere(line: str) -> None:
    made, _ = findings({"agent/x.py": f"def f(text):\n    return {line}\n"})
    assert len(made) == 1


def test_the_rule_sees_a_new_caller() -> None:
    _, callers = findings({"agent/x.py": "from foundation.privacy import as_given\nas_given('x')\n"})
    assert set(callers) - set(REVIEWED) == {("agent/x.py", "as_given")}
