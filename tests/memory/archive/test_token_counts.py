"""What an archive says of its tokens: of the words alone, the same before, in the receipt and in every list."""

from collections.abc import Callable
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.records import Entry
from models.messages import Role
from models.tokens import estimate
from tests.fakes import FakeClock

Say = Callable[..., Entry]
CODE = Path(__file__).read_text("utf-8") * 2


def test_lines_of_our_own_making_are_no_text_tokens(vault: Vault, say: Say) -> None:
    said = [say(f"The ferry leaves at {n}.") for n in range(20)]
    archived = vault.archive_entries(said, label="talk")
    (page,) = archived.pages
    assert archived.text_tokens == page.text_tokens == sum(estimate(entry.text or "") for entry in said)
    assert estimate(vault.read_page(page.id).text) > 2 * archived.text_tokens


def test_words_that_stand_elsewhere_count_where_they_stand(vault: Vault, say: Say) -> None:
    first = vault.archive_entries([say(CODE, role=Role.TOOL)], label="first")
    edited = say("Read again.\n" + CODE, role=Role.TOOL)
    expected = vault.expected([edited])
    second = vault.archive_entries([edited], label="second")
    assert second.shared_chars > 0.9 * len(CODE)
    assert second.text_tokens < 0.1 * first.text_tokens
    assert (expected.text_tokens, expected.shared_chars) == (second.text_tokens, second.shared_chars)


def test_what_is_expected_what_is_told_and_what_is_listed_agree(vault: Vault, say: Say) -> None:
    said = [say(f"{n}: " + "radishes in March, beans after the last frost. " * (n % 9)) for n in range(150)]
    expected = vault.expected(said)
    archived = vault.archive_entries(said, label="talk")
    (listed,) = vault.archives()
    figures = (expected.pages, expected.text_tokens, expected.vision_tokens)
    assert figures == (len(archived.pages), archived.text_tokens, archived.vision_tokens)
    assert figures == (listed.pages, listed.text_tokens, listed.vision_tokens)
    assert archived.text_tokens == sum(page.text_tokens for page in vault.pages(listed.seq))


def test_a_file_counts_all_of_its_words(vault: Vault) -> None:
    archived = vault.archive_text(as_given(CODE), label="code")
    assert abs(archived.text_tokens - estimate(CODE)) <= 0.01 * estimate(CODE)


def test_progress_goes_on_while_pages_are_counted(workspace: Workspace, cold: ColdStore, clock: FakeClock) -> None:
    """Counting takes longer than drawing: what is told last is not far from the end."""
    told: list[int] = []
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(told[-1])
        return len(text)

    vault = Vault(workspace.packs, workspace.page_cache, cold, clock, count=count)
    pages = len(vault.archive_text(as_given(CODE * 20), label="code", on_page=told.append).pages)
    assert pages > 8
    assert len(set(counted)) >= pages // 2  # another page was told between


def test_pictures_for_people_are_not_waited_for_and_a_torn_one_is_made_again(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    (page,) = vault.archive_text(as_given(CODE[:500]), label="code").pages
    synced: list[int] = []
    monkeypatch.setattr("foundation.files.atomic.sync_handle", synced.append)
    path = vault.png(page.id)
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    assert vault.png(page.id).read_bytes() == whole
    assert not synced
