"""Private words and secrets put in through every door are in no byte that the program wrote: end to end.

A small sample runs always, the whole with `make soak`. Each test prints how many canaries went in and how many came to
light.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest

from foundation.paths import Workspace
from memory.memory import Memory
from tests.agent.conftest import Run, bare, root, run
from tests.hostile.canaries import Canaries
from tests.loopback import Loopback, Received, Reply, chat, data, delta, json_reply, stream

__all__ = ["bare", "root", "run"]
SIZES = [1, pytest.param(12, marks=[pytest.mark.soak, pytest.mark.timeout(1500)])]
ESCAPED: dict[str, Callable[[str, str], str]] = {
    "newline": lambda token, _: json.dumps({"note": f"keys:\n{token}"}),
    "tab": lambda token, _: json.dumps({"note": f"a\t{token}"}),
    "go": lambda _, word: json.dumps({"note": f"<private>{word}</private>"}).replace("<", "\\u003c"),
    "slash": lambda _, word: json.dumps({"note": f"<private>{word}</private>"}).replace("/", "\\/"),
    "letters": lambda token, _: '{"note": "' + "".join(f"\\u{ord(letter):04x}" for letter in token) + '"}',
    "nested": lambda token, _: json.dumps({"content": json.dumps({"deep": [f"\n{token}"]})}),
    "key": lambda token, _: json.dumps({f"x {token}": 1}),
    "broken": lambda token, _: '{"note": "cut off:\\n' + token,
}


def ends(kind: str, count: int, canaries: Canaries, *places: Path, own: frozenset[Path] = frozenset()) -> None:
    found = canaries.found_in(*places, own=own)
    print(f"{kind}: {len(canaries.doors)} canaries, {len(found)} found")
    assert len(canaries.doors) >= count
    assert found == {}


def all_pages(root: Path) -> str:
    """The text of every page, read back from its pixels."""
    memory = Memory.open(Workspace(root))
    try:
        rows = memory.cold.read(lambda db: [row[0] for row in db.execute("SELECT id FROM pages")])
        return "\n".join(memory.vault.read_page(row).text for row in rows)
    finally:
        memory.close()


@pytest.fixture
def server() -> Any:
    with Loopback() as opened:
        yield opened


def script(server: Loopback, *replies: Reply) -> list[Reply]:
    """Answers to chats alone, in order, whatever else the program asks a server first; gives those not yet sent."""
    waiting = list(replies)

    def answer(received: Received) -> Reply:
        wanted = received.path.endswith("/chat/completions") and json.loads(received.body).get("stream")
        return waiting.pop(0) if wanted and waiting else json_reply({}, status=404)

    server.answers_all(answer)
    return waiting


def spec(server: Loopback, name: str = "m") -> str:
    return f"openai:{name}@{server.address}"


@pytest.mark.timeout(120)
@pytest.mark.parametrize("size", SIZES)
def test_messages_answers_and_tool_calls(run: Run, root: Path, server: Loopback, size: int) -> None:
    canaries = Canaries(size)
    for _ in range(size):
        calls = {
            name: make(canaries.token(f"tool call, {name}"), canaries.private(f"tool call, {name}"))
            for name, make in ESCAPED.items()
        }
        token, word, name = canaries.token("message"), canaries.private("message"), canaries.token("tool's name")
        mine = f"my key {token} and <private>{word}</private> then <private>{canaries.private('unclosed')} end"
        answer = f"you said {canaries.token('answer')} <private>{canaries.private('answer')}</private>"
        thought = f"think {canaries.token('reasoning')}"
        chunks = [delta(role="assistant", content=""), delta(reasoning_content=thought)]
        chunks += [delta(content=answer[at : at + 5]) for at in range(0, len(answer), 5)]
        for index, (kind, arguments) in enumerate(calls.items()):
            function = {"name": f"t_{name}" if kind == "key" else "search_memory", "arguments": arguments}
            call = {"index": index, "id": f"id {canaries.token('call id')}", "type": "function", "function": function}
            chunks.append(delta(tool_calls=[call]))
        replies = (stream(*map(data, [*chunks, delta("tool_calls")]), data("[DONE]")), chat("done"))
        waiting = script(server, *replies)
        said = run("--model", spec(server, f"m-{canaries.token('model name')}"), "-p", mine)
        assert said.status == 0, said.err
        assert "is never closed" in said.err
        assert waiting == []
    run("conversations", "list")
    run("archive", "--growing", "--older-than", "0d")
    run("check")
    ends("messages, answers, tool calls", 20 * size, canaries, root)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("size", SIZES)
def test_imports(run: Run, root: Path, tmp_path: Path, size: int) -> None:
    canaries = Canaries(100 + size)
    for number in range(size):
        lines: list[dict[str, Any]] = []
        for kind in ("text", "speaker", "id", "conversation"):
            lines.append({"text": "a", kind: f"x {canaries.token(kind)} <private>{canaries.private(kind)}</private>"})
        lines += [
            {"text": "b", "password": canaries.password("field"), "client_secret": canaries.password("field")[:13]},
            {"text": "c", "auth": {"password": canaries.password("nested"), "list": [{"token": canaries.token("n")}]}},
            {"text": "d", "env": [{"name": "DB_PASSWORD", "value": canaries.password("sibling name")}]},
            {"text": "e", "raw": json.dumps({"password": canaries.password("JSON in a field")})},
            {"text": "f", f"k {canaries.token('field name')}": 1},
            {
                "text": "g",
                "palimpsest": {
                    "title": canaries.token("title"),
                    "source": canaries.token("source"),
                    "meta": {"arguments": json.dumps({"x": "\n" + canaries.token("meta")})},
                },
            },
        ]
        file = tmp_path / f"talk-{number}-{canaries.token('file name')}.jsonl"
        file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
        assert run("import", str(file)).status == 0
        again = run("import", str(file), "--json")
        assert (again.status, again.json["entries"], again.json["already"]) == (0, 0, len(lines))
    run("archive", "--growing", "--older-than", "0d")
    exported = run("export", "--to", "jsonl")
    (root / "exported.jsonl").write_bytes(exported.raw)
    ends("imports", 15 * size, canaries, root)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("size", SIZES)
def test_files_and_notes(run: Run, root: Path, tmp_path: Path, size: int) -> None:
    canaries = Canaries(200 + size)
    folder = tmp_path / "files"
    folder.mkdir()

    def both(door: str) -> str:
        return f"a {canaries.token(door)} <private>{canaries.private(door)}</private> b"

    for number in range(size):
        (folder / f"{number}.txt").write_text(both("text"), "utf-8")
        (folder / f"{number}.md").write_text(f"# {both('heading')}\n\n{both('markdown')}\n", "utf-8")
        (folder / f"{number}.py").write_text(f"KEY = '{canaries.token('code')}'\n", "utf-8")
        (folder / f"{number}.json").write_text(json.dumps({"k": "\n" + canaries.token("json")}), "utf-8")
        over = canaries.private("over an HTML heading")
        page = f"<h1>a</h1><p>{both('html')}</p><private><p>b</p><h2>{over}</h2></private><p>end</p>"
        (folder / f"{number}.html").write_text(f"<html><body>{page}</body></html>", "utf-8")
        (folder / f"{number}-{canaries.token('file name')}.txt").write_text("harmless", "utf-8")
        word = docx.Document()
        word.add_paragraph("open <private>", "Heading 1")
        word.add_paragraph(canaries.private("over a Word heading"), "Heading 1")
        word.add_paragraph(f"{canaries.private('over a Word heading')}</private> {canaries.token('docx')}")
        word.save(str(folder / f"{number}.docx"))
        (tmp_path / "old.txt").write_text(f"version {number} {both('older version')}", "utf-8")
        assert run("knowledge", "add", str(tmp_path / "old.txt")).status == 0
        kept = tmp_path / f"arch-{number}.txt"
        kept.write_text(both("archive --redact") * 3, "utf-8")
        assert run("archive", str(kept), "--redact", "--label", f"l {canaries.token('label')}").status == 0
        assert run("remember", both("remember")).status == 0
        refused = f"openai:m@http://u:{canaries.password('config set')}@127.0.0.1/v1"
        assert run("config", "set", "model", refused, "--user").status == 2
    assert run("knowledge", "add", str(folder), str(tmp_path / "old.txt"), "--redact").status == 0
    pages = all_pages(root)
    (root / "read-back.txt").write_text(pages, "utf-8")
    paths = frozenset[Path]()
    names = [word for word, door in canaries.doors.items() if door == "file name"]
    for name in names:  # the path on disk is how a file is known again; its name is what is cleared
        canaries.doors.pop(name)
    ends("files and notes", 18 * size, canaries, root, tmp_path / "home", own=paths)


@pytest.mark.timeout(120)
def test_nothing_private_reaches_an_embedder(run: Run, root: Path, server: Loopback, tmp_path: Path) -> None:
    canaries = Canaries(300)

    def vectors(received: Received) -> Reply:
        if not received.path.endswith("/embeddings"):
            return chat("an answer of no matter")
        texts = received.json["input"]
        rows = [{"index": n, "embedding": [float(len(text) % 7 + 1), 1.0, 0.5]} for n, text in enumerate(texts)]
        return json_reply({"object": "list", "data": rows, "model": "e"})

    server.answers_all(vectors)
    assert run("config", "set", "embed.embedder", spec(server, "e"), "--user").status == 0
    for number in range(12):
        run("remember", f"The heron number {number} stands in the reeds.")
    (root / "MEMORY.md").write_text(
        (root / "MEMORY.md").read_text("utf-8") + f"\n- a note <private>{canaries.private('MEMORY.md')}</private>\n"
    )
    secret = tmp_path / "mine.txt"
    secret.write_text(f"my file with {canaries.token('archived file')} in it\n" * 3, "utf-8")
    assert run("archive", str(secret)).status == 0
    assert run("models", "embed").status == 0

    def asked(door: str) -> str:
        token, word = canaries.token(door), canaries.private(door)
        return f"where is the heron? <private>{word}</private> {token} <private>{canaries.private(door)}"

    for words in (("-p",), ("search",), ("recall",), ("context",)):
        assert run(*words, asked(words[0])).status in {0, 1}
    to_embedder = [received.body for received in server.requests if received.path.endswith("/embeddings")]
    assert len(to_embedder) >= 4
    (sent := tmp_path / "sent").mkdir()
    (sent / "bodies").write_bytes(b"\n".join(to_embedder))
    ends("embedder", 14, canaries, sent)


def test_the_search_for_canaries_finds_one_in_every_form(tmp_path: Path) -> None:
    import base64
    import sqlite3

    from zstandard import ZstdCompressor

    canaries = Canaries(1)
    words = [canaries.token("t") for _ in range(7)]
    (tmp_path / "raw").write_text(f"x{words[0]}y")
    (tmp_path / "packed").write_bytes(b"head" + ZstdCompressor().compress(words[1].encode() * 90))
    (tmp_path / "wide").write_bytes(words[2].encode("utf-16-le"))
    (tmp_path / "b64").write_bytes(base64.b64encode(b"12" + words[3].encode() + b"3"))
    db = sqlite3.connect(tmp_path / "cold.db")
    db.execute("CREATE TABLE t (a)")
    db.execute("INSERT INTO t VALUES (?)", (ZstdCompressor().compress(words[4].encode() * 90),))
    db.commit()
    db.close()
    (tmp_path / words[5]).write_text("")
    (tmp_path / "escaped").write_text("".join(f"\\\\u{ord(letter):04x}" for letter in words[6]))
    assert set(canaries.found_in(tmp_path)) == set(words)
