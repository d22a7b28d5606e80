"""What was typed comes back; what is stored of it holds nothing private."""

import threading
from concurrent.futures import ThreadPoolExecutor
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.services.drafts import PASTE_BEGINS, PASTE_ENDS, Drafts
from foundation.privacy import clear
from tui.widgets.prompt import history as history_module
from tui.widgets.prompt.history import HistoryCursor, PromptHistory


async def test_going_up_and_down_keeps_what_is_being_written(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.say("old")
        await chat.quiet()
        await chat.type("new")
        await chat.press("up")
        assert chat.screen.prompt.text == "old"
        await chat.press("down")
        assert chat.screen.prompt.text == "new"


async def test_up_moves_within_a_text_of_several_lines_first(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.say("old")
        await chat.quiet()
        await chat.type("a")
        await chat.press("ctrl+j")
        await chat.type("b")
        await chat.press("up")
        assert chat.screen.prompt.text == "a\nb"
        await chat.press("up")
        assert chat.screen.prompt.text == "old"


async def test_ctrl_r_finds_what_was_typed(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.say("the boiler")
        await chat.quiet()
        await chat.say("something else")
        await chat.quiet()
        await chat.press("ctrl+r")
        await chat.until(lambda: chat.app.screen is not chat.screen)
        await chat.type("boil")
        await chat.press("enter")
        assert chat.screen.prompt.text == "the boiler"


def test_words_that_are_to_be_forgotten_are_not_written_by_naming_them(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "history.jsonl")
    history.add("/forget the code of the door")
    history.add("/search boiler")
    assert history.entries == ("/forget the code of the door", "/search boiler")
    assert (tmp_path / "history.jsonl").read_text() == '"/search boiler"\n'


def test_the_history_on_disk_holds_nothing_private(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "state" / "history.jsonl")
    history.add("I live in <private>Rosenweg 5</private>.\nSecond line 中文")
    on_disk = (tmp_path / "state" / "history.jsonl").read_text()
    assert "Rosenweg" not in on_disk
    assert "Rosenweg" in history.entries[-1]
    again = PromptHistory(tmp_path / "state" / "history.jsonl")
    again.load()
    assert again.entries == ("I live in [private].\nSecond line 中文",)


def test_a_broken_line_of_the_history_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'"one"\n{broken\n\xff\n42\n"two"\n')
    history = PromptHistory(path)
    history.load()
    assert history.entries == ("one", "two")


@given(st.lists(st.text(min_size=1), max_size=5), st.text(), st.lists(st.booleans(), max_size=20))
def test_a_walk_through_the_history_always_leads_back(entries: list[str], unsent: str, steps: list[bool]) -> None:
    walk = HistoryCursor(tuple(entries), unsent)
    current = unsent
    for back in steps:
        found = walk.back(current) if back else walk.forward(current)
        current = current if found is None else found
    while (found := walk.forward(current)) is not None:
        current = found
    assert current == unsent


def test_texts_are_stored_in_the_order_in_which_they_were_typed(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "history.jsonl")
    texts = [f"{number} 你好" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        for text in texts:
            history.remember(text)
            pool.submit(history.write)
    stored = PromptHistory(tmp_path / "history.jsonl")
    stored.load()
    assert stored.entries == tuple(texts)


async def test_what_is_sent_is_stored_off_the_event_loop(open_chat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def noted(text: str) -> str:
        threads.append(threading.get_ident())
        return clear(text)

    monkeypatch.setattr(history_module, "clear_marked", noted)
    async with open_chat() as chat:
        await chat.say("hi 你好")
        await chat.quiet()
        await chat.until(lambda: threads)
    assert threading.get_ident() not in threads


def test_no_mark_keeps_a_secret_apart_from_its_beginning_or_its_name(tmp_path: Path) -> None:
    body = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5"
    history, drafts = PromptHistory(tmp_path / "history.jsonl"), Drafts(tmp_path / "drafts")
    for before in ("ghp_", "api_key="):
        marked = f"{before}{PASTE_BEGINS}{body}\n中文{PASTE_ENDS}"
        history.remember(f"{before}{body}\n中文", marked)
        history.write()
        drafts.save("c_1", marked)
        assert body not in (tmp_path / "history.jsonl").read_text() + drafts.load("c_1").text


def test_what_could_not_be_stored_is_stored_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    history = PromptHistory(tmp_path / "history.jsonl")
    with monkeypatch.context() as patched:
        patched.setattr(history_module, "append", full)
        with pytest.raises(OSError, match="No space"):
            history.add("one")
    history.add("two")
    stored = PromptHistory(tmp_path / "history.jsonl")
    stored.load()
    assert stored.entries == ("one", "two")


def test_a_prompt_after_one_that_a_full_disk_cut_off_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    PromptHistory(path).add("the first")
    with path.open("ab") as file:
        file.write(b'"the seco')
    PromptHistory(path).add("the third")
    loaded = PromptHistory(path)
    loaded.load()
    assert loaded.entries == ("the first", "the third")
