"""The file of trusted workspaces: damaged, and written by several at once."""

import os
import threading
from pathlib import Path

import pytest

from foundation.paths import Workspace, config_dir
from foundation.workspace_trust import TrustStore, trust_store
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("damaged", [b"[]}", b"\xff\xfe", b'{"workspaces": [{"pa'])
def test_a_damaged_store_is_kept_beside_and_told(cloned: Path, bare: Run, damaged: bytes) -> None:
    trusted = Path(os.environ["PALIMPSEST_CONFIG_DIR"]) / "trusted.json"
    trusted.write_bytes(damaged)
    done = bare("trust", str(cloned))
    assert done.status == 0
    (kept,) = trusted.parent.glob("trusted.json.damaged-*")
    assert kept.read_bytes() == damaged
    assert done.err.count(kept.name) == 1
    assert kept.name not in bare("trust", str(cloned)).err
    assert [record.path for record in trust_store(os.environ).records()] == [str(cloned)]


def test_writers_of_the_trust_store_do_not_lose_each_other(tmp_path: Path) -> None:
    store = TrustStore(config_dir(os.environ))
    spaces = [Workspace(tmp_path / f"space-{n}") for n in range(24)]
    for space in spaces:
        space.root.mkdir()
    threads = [threading.Thread(target=store.trust, args=(space, "")) for space in spaces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {record.path for record in store.records()} == {str(space.root) for space in spaces}
