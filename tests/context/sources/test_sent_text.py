"""What of a workspace's Markdown is sent: no comments of templates, and no empty sections."""

import pytest

from context.sources.sent_text import sent_text


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("# Memory\n\n<!-- Yours to edit. -->\n", ""),
        ("", ""),
        ("Only words.\n", "Only words."),
        ("# A\n\ntext <!-- note --> more\n", "# A\n\ntext  more"),
        ("# A\n\ntext\n\n## Empty\n\n<!-- fill in -->\n", "# A\n\ntext"),
        ("# A\n\n## B\n\ntext\n", "# A\n\n## B\n\ntext"),
        ("## Empty\n\n## B\n\ntext\n\n# Last\n", "## B\n\ntext"),
        ("```html\n<!-- code -->\n# not a heading\n```\n", "```html\n<!-- code -->\n# not a heading\n```"),
        ("~~~\n<!-- code\n~~~\n\n<!-- a\nb -->\n", "~~~\n<!-- code\n~~~"),
        ("<!-- 2026-03-14T10:00:00Z -->\n## Tea\n- At four.\n", "<!-- 2026-03-14T10:00:00Z -->\n## Tea\n- At four."),
        ("An open <!-- comment\n", "An open <!-- comment"),
        ("#hashtag stays\n", "#hashtag stays"),
    ],
)
def test_comments_and_empty_sections_are_left_out(written: str, sent: str) -> None:
    assert sent_text(written) == sent
