"""Stores as each released program left them, as SQL. `python -m tests.memory.cold.released` writes the newest anew.

Only the schema that is not released yet may be written anew; the others are history.
"""

import sys
from pathlib import Path

import apsw

from foundation.privacy import Cleared
from memory.cold.schema import released
from memory.cold.sql import fetch, run
from memory.context_store import ContextStore, NewEpoch
from memory.model_requests import OBSERVE, ModelRequests, TokenReserve
from models.messages import Text, Usage
from tests.fakes import FakeClock
from tests.memory.cold.drafts import answered, open_store, said

SCHEMAS = Path(__file__).parent / "schemas"


def load(number: int, path: Path) -> None:
    """Makes the store of that schema at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = apsw.Connection(str(path))
    run(db, (SCHEMAS / f"{number:04}.sql").read_text("utf-8"))
    db.close()


def dump(path: Path) -> str:
    """The store at `path` as SQL that makes it again."""
    db = apsw.Connection(str(path))
    lines = ["PRAGMA foreign_keys = OFF;", "BEGIN;"]
    lines += [
        f"{sql};"
        for (sql,) in fetch(db, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    ]
    for (table,) in fetch(db, "SELECT name FROM sqlite_schema WHERE type = 'table'"):
        if table == "sqlite_schema":
            continue
        columns = [row[1] for row in fetch(db, f"PRAGMA table_info ({table})")]
        values = " || ', ' || ".join(f"quote({column})" for column in columns)
        if table == "sqlite_sequence":
            lines.append("DELETE FROM sqlite_sequence;")
        lines += [f"INSERT INTO {table} VALUES ({row[0]});" for row in fetch(db, f"SELECT {values} FROM {table}")]
    beside = "SELECT sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL"
    lines += [f"{sql};" for (sql,) in fetch(db, beside)]
    for name in ("user_version", "application_id"):
        lines.append(f"PRAGMA {name} = {fetch(db, f'PRAGMA {name}')[0][0]};")
    lines.append("COMMIT;")
    db.close()
    return "\n".join(lines) + "\n"


def fill(path: Path) -> None:
    """A store with a little of everything."""
    clock = FakeClock()
    cold = open_store(path, clock)
    conversation = cold.new_conversation(Cleared("Trip \ud800"), created=clock.now())
    question = cold.append(
        said(conversation.seq, "Where is the tent? \udc00", id="e_question", sent=(Text("x", "skill"),))
    )
    answer = cold.begin_answer(answered(conversation.seq, "", question.seq, id="e_answer", speaker="qwen"))
    usage = Usage(prompt_tokens=10, completion_tokens=5)
    answer.finish(Cleared("In the cellar. " * 200), meta={"reason": "stop"}, usage=usage, model="qwen", ms=900)
    cut = answered(conversation.seq, "", answer.entry.seq, id="e_cut")
    cold.write(lambda db: _cut_off(cold.insert(db, cut).seq, db))
    cold.label(conversation.seq, Cleared("travel"))
    ContextStore(cold).set_epoch(conversation.seq, NewEpoch(1, "start", b"{}"))
    reserve = TokenReserve(
        purpose=OBSERVE, model=Cleared("writer"), conversation=conversation.seq, prompt_tokens=900, answer_tokens=300
    )
    ModelRequests(cold, clock).reserve(reserve, clock.now(), 10_000)
    cold.close()


def _cut_off(seq: int, db: apsw.Connection) -> None:
    run(db, "UPDATE entries SET complete = 0, chars = 0, body = x'', sha256 = ? WHERE seq = ?", (bytes(32), seq))
    run(
        db,
        "INSERT INTO chunks (entry, n, body) VALUES (?, 0, CAST('Half of ' AS BLOB)), (?, 1, CAST('it' AS BLOB))",
        (seq, seq),
    )
    run(db, "INSERT INTO answers VALUES (?, 'w_gone')", (seq,))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "state" / "cold.db"
        fill(database)
        SCHEMAS.mkdir(exist_ok=True)
        target = SCHEMAS / f"{released()[-1].number:04}.sql"
        target.write_text(dump(database), "utf-8")
        sys.stdout.write(f"{target.name}: {target.stat().st_size} bytes\n")
