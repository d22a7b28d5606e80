"""docs/reference/keys.md is what the bindings say."""

from tests.paths import ROOT
from tui.bindings import BOUND
from tui.key_manual import manual


def test_the_page_of_keys_is_written_from_the_bindings() -> None:
    """`python -m tui.key_manual > docs/reference/keys.md` writes it anew."""
    assert (ROOT / "docs" / "reference" / "keys.md").read_text(encoding="utf-8") == manual()


def test_each_screen_has_a_title_in_words() -> None:
    assert [kind.__name__ for kind in BOUND if f"## {kind.__name__}\n" in manual()] == []
