"""A store with triggers or views of somebody else's is refused."""

import os
from pathlib import Path

import apsw
import pytest

from foundation.paths import Workspace
from foundation.workspace_trust import trust_store
from memory.cold.sql import run as execute
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM labels; END",
        "ALTER TABLE labels RENAME TO l; CREATE VIEW labels AS SELECT * FROM l",
    ],
)
def test_a_store_with_foreign_parts_is_refused_and_none_of_them_runs(run: Run, root: Path, sql: str) -> None:
    assert run("-p", "hello").status == 0
    db = apsw.Connection(str(Workspace(root).database))
    execute(db, sql)
    execute(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    done = run("remember", "that")
    done = run("search", "hello")
    assert done.status == 1
    assert "The database contains the" in done.err
    assert trust_store(os.environ).state(Workspace(root)).trusted
    assert run("check", "--repair").status in {0, 1}
    assert run("search", "hello").status == 0
