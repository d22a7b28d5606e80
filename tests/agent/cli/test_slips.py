"""Slips of the keyboard are named as that, and are no messages."""

from tests.agent.conftest import Run


def test_a_slip_is_still_a_slip(run: Run) -> None:
    assert "Did you mean “forget”?" in run("forgte").err
    assert "No such option" in run("search", "x", "--arund", "y").err
    assert "chunkz" in run("export", "--to", "chunkz").err


def test_an_empty_workspace_is_a_misuse(bare: Run) -> None:
    for words in (("--workspace=", "stats"), ("stats", "--workspace", "")):
        said = bare(*words)
        assert said.status == 2
        assert "--workspace is empty" in said.err
