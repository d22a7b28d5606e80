"""`/context` tells of two savings, each by itself."""

from agent.commands.tables import report_markdown, savings_sentences
from context.report import ArchiveUsage, ContextReport, LayerReport, PageUsage, SourceReport, archive_of

SENT = "including what was recalled for them,"


def report(**given: object) -> ContextReport:
    layers = (LayerReport("conversation", 1500, 3000, (SourceReport("pages (3)", 1500),)),)
    return ContextReport(
        model="openai:qwen3-vl",
        window=8192,
        reserve=2048,
        total_tokens=1500,
        layers=layers,
        zones=(),
        messages=(),
        prefix_sha256="",
        **given,
    )


def test_pages_in_view_tell_what_they_cost_and_what_they_stand_for() -> None:
    shown = report_markdown(report(pages=PageUsage(3, 1500, 4100)))
    assert "pages (3) 1,500" in shown
    assert "Pages in view: 3. They take 1,500 tokens instead of 4,100 as text, saving 2,600 per request." in shown


def test_what_is_in_the_archive_is_told_apart_and_never_added() -> None:
    pages = PageUsage(3, 1500, 4100)
    said = savings_sentences(report(pages=pages, archive=archive_of(9000, pages)))
    assert len(said) == 2
    assert f"Archive memory: 9,000 tokens of {SENT}, 4,100 of them as pages in view." in said[1]
    assert "The other 4,900 are out of view" in said[1]
    assert not any("11,600" in sentence for sentence in said)


def test_without_pages_all_of_the_archive_is_out_of_view() -> None:
    (said,) = savings_sentences(report(archive=archive_of(9000, None)))
    assert f"9,000 tokens of {SENT}, out of view:" in said


def test_pages_never_show_more_than_left() -> None:
    assert archive_of(900, PageUsage(3, 500, 4100)) == ArchiveUsage(900, 900)
    assert archive_of(0, PageUsage(3, 500, 4100)) is None


def test_without_either_nothing_is_said() -> None:
    assert savings_sentences(report()) == []
