"""`/context` tells of two savings, each by itself."""

from agent.commands.context_table import as_markdown, savings
from context.report import Archive, InView, LayerReport, Report, Source


def report(**given: object) -> Report:
    layers = (LayerReport("conversation", 1500, 3000, (Source("pages (3)", 1500),)),)
    return Report(
        model="openai:qwen3-vl", window=8192, reserve=2048, total_tokens=1500, layers=layers, zones=(), messages=(),
        prefix_sha256="", **given,  # type: ignore[arg-type]  # a test's own
    )  # fmt: skip


def test_pages_in_view_tell_what_they_cost_and_what_they_stand_for() -> None:
    shown = as_markdown(report(pages=InView(3, 1500, 4100)))
    assert "pages (3) 1,500" in shown
    assert "Pages in view: 3. They cost 1,500 tokens and stand for 4,100 as text: 2,600 fewer in each request." in shown


def test_what_is_in_the_archive_is_told_apart_and_never_added() -> None:
    said = savings(report(pages=InView(3, 1500, 4100), archive=Archive(9000)))
    assert len(said) == 2
    assert "9,000 tokens of older turns are in the archive" in said[1]
    assert not any("11,600" in sentence for sentence in said)


def test_without_either_nothing_is_said() -> None:
    assert savings(report()) == []
