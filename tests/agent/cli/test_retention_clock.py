"""Rules delete nothing under a clock that may be ahead, until a person confirms its date or it has stayed for a day."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foundation.clock import SystemClock
from tests.agent.cli.test_retention import Talk, in_store, settle, talk  # noqa: F401 - a fixture
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

YEARS = timedelta(days=5 * 365 + 1)


@pytest.fixture
def said(run: Run, monkeypatch: pytest.MonkeyPatch) -> str:
    """Something is said today; then the clock is set ahead by years. Gives the wrong date."""
    assert run("-p", "talk of today 今天 🙂").status == 0
    turn(monkeypatch, YEARS)
    settle(run, delete_days=100)
    return f"{SystemClock().now().astimezone():%Y-%m-%d}"


def turn(monkeypatch: pytest.MonkeyPatch, ahead: timedelta) -> None:
    monkeypatch.setattr(SystemClock, "now", lambda _: datetime.now(UTC) + ahead)


def test_nothing_is_deleted_under_a_clock_that_is_ahead(run: Run, root: Path, said: str) -> None:
    before = in_store(root)
    true = f"{datetime.now().astimezone():%Y-%m-%d}"
    for words in (("--yes",), (), ("--yes", "--json")):
        ran = run("retention", *words)
        assert ran.status == 2
        assert f"says {said}" in ran.out + ran.err
        assert f"of {true}, 1,826 days earlier" in ran.out + ran.err
        assert "nothing was done" in ran.out + ran.err
        assert f"`palimpsest retention --today {said}`" in ran.out + ran.err
        assert in_store(root) == before, words
    assert run("retention", "--json").json["error"]["code"] == "clock_in_doubt"
    assert len(before) == 1


def test_a_dry_run_says_that_the_clock_may_be_ahead(run: Run, said: str) -> None:
    ran = run("retention", "--dry-run")
    assert ran.status == 0
    assert f"The system clock says {said}" in ran.err


def test_words_that_are_said_under_the_wrong_clock_prove_nothing_on_that_day(run: Run, root: Path, said: str) -> None:
    assert run("-p", "talk under the wrong clock").status == 0
    before = in_store(root)
    assert run("retention", "--yes").status == 2
    assert in_store(root) == before
    assert len(before) == 2


def test_after_years_away_the_date_is_confirmed_or_proves_itself_in_a_day(
    run: Run, root: Path, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = run("retention", "--yes", "--today", f"{datetime.now().astimezone():%Y-%m-%d}")
    assert wrong.status == 2
    assert f"says {said}" in wrong.err
    assert len(in_store(root)) == 1, "the date is not that of the clock"
    assert run("-p", "back again").status == 0
    turn(monkeypatch, YEARS + timedelta(days=1, hours=1))
    assert len(run("retention", "--yes", "--json").json["deleted"]) == 1
    assert len(in_store(root)) == 1
    turn(monkeypatch, 2 * YEARS)
    date = f"{SystemClock().now().astimezone():%Y-%m-%d}"
    assert len(run("retention", "--yes", "--today", date, "--json").json["deleted"]) == 1
    assert in_store(root) == {}


def test_a_month_without_a_word_is_no_doubt_of_the_clock(run: Run, root: Path, talk: Talk) -> None:  # noqa: F811
    talk("harbour", 400)
    talk("island", 29)
    settle(run, delete_days=100)
    assert run("retention", "--yes", "--json").json["deleted"] == ["harbour"]
    assert in_store(root) == {"island": True}


def test_archiving_alone_is_not_refused_for_it_can_be_taken_back(
    run: Run,
    root: Path,
    talk: Talk,  # noqa: F811
) -> None:
    talk("harbour", 400)
    settle(run, archive_days=100)
    assert run("retention").status == 0
    assert in_store(root) == {"harbour": False}
    assert run("retention", "--undo").status == 0


@pytest.mark.usefixtures("said")
def test_cleaning_deletes_nothing_under_any_clock(run: Run, root: Path) -> None:
    """It archives, and that can be taken back."""
    before = in_store(root)
    ran = run("-p", "/clean --yes")
    assert ran.status == 0, ran.err
    assert before.keys() == in_store(root).keys()
