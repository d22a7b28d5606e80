"""`palimpsest context` names each AGENTS.md by its path, and what is not trusted with the way to trust it."""

from pathlib import Path

from tests.agent.conftest import Run

MODEL = ("--model", "openai:m@http://127.0.0.1:9/v1")


def test_context_names_each_file_by_its_path(run: Run, root: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "AGENTS.md").write_text("ZEBRA")
    before = run(*MODEL, "context", "hello")
    assert "ZEBRA" not in before.out
    why = f"it is not read until you trust it: `/trust yes`, or `palimpsest trust {here}` outside the chat"
    assert f"{here / 'AGENTS.md'}, 0 tokens ({why})" in before.err
    assert run("trust", str(here)).status == 0
    after = run(*MODEL, "context", "hello")
    assert "ZEBRA" in after.out
    assert f"{root / 'AGENTS.md'} " in after.out
    assert f"{here / 'AGENTS.md'} " in after.out
