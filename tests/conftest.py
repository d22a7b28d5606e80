"""Every test runs in a workspace of its own, and never sees the developer's own settings or keys."""

import gc
import os
import re
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from foundation.paths import Workspace
from tests.examples import SOAK, examples
from tests.fakes import FakeClock
from tests.order import long_first
from tests.parts import of_this_run

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # on a busy core its threads wait for one another by spinning
# A busy machine may take a second over an example: how long a test may take, its own limit says.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("every run", settings.get_profile("untimed"), max_examples=examples(100))
settings.load_profile("untimed" if SOAK else "every run")
gc.disable()  # the tests and modules that are collected stay: looking for garbage among them took half of that time


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)  # at Python's own 700 a fifth of the tests' time went there
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    taken = of_this_run(items, lambda item: item.nodeid)
    if left_out := set(items) - set(taken):
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = taken
    if workers := getattr(config, "workerinput", {}).get("workercount", 0):
        items[:] = long_first(items, workers, _seconds, lambda item: str(item.path))


def _seconds(item: pytest.Item) -> float:
    """The limit of a test."""
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker else 0.0


_count = count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test. pytest's own fixture lists the folders of all earlier tests to number a new one."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}-{next(_count)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture(autouse=True)
def no_settings_of_the_developer(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in list(os.environ):
        if name.startswith("PALIMPSEST_") or name.endswith("_API_KEY") or name == "TMUX":
            monkeypatch.delenv(name)
    has_folder = "tmp_path" in request.fixturenames
    folder = (
        request.getfixturevalue("tmp_path") if has_folder else tmp_path_factory.getbasetemp() / f"no-{next(_count)}"
    )
    monkeypatch.setenv("PALIMPSEST_CONFIG_DIR", str(folder / "user-config"))
    monkeypatch.setenv("PALIMPSEST_COMMAND", "palimpsest")  # in hints, whichever module a test starts
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("MLX_DISABLE_COMPILE", "1")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "workspace"
    root.mkdir()
    return Workspace(root)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()
