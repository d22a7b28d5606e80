"""What the contract names and this version has not: said as that."""

import pytest

from tests.agent.conftest import Run


@pytest.mark.parametrize(
    "words",
    [
        ("forget", "x"),
        ("forgte",),
    ],
)
def test_what_is_still_to_come_is_told_as_that(run: Run, words: tuple[str, ...]) -> None:
    said = run(*words, "--json")
    assert said.status == 2
    assert said.json["error"]["message"].endswith("is not in this version.")
    assert "message" not in said.json["error"]["hint"]


def test_a_slip_is_still_a_slip(run: Run) -> None:
    assert "No such option" in run("search", "x", "--arund", "y").err
    assert "chunkz" in run("export", "--to", "chunkz").err


def test_an_empty_workspace_is_a_misuse(bare: Run) -> None:
    for words in (("--workspace=", "stats"), ("stats", "--workspace", "")):
        said = bare(*words)
        assert said.status == 2
        assert "--workspace is empty" in said.err
