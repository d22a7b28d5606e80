"""Vim keys on a text, without a screen."""

from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tui.widgets.prompt.units import offsets, units
from tui.widgets.prompt.vim.engine import press
from tui.widgets.prompt.vim.state import Effect, Step, VimMode, VimState

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
CHIP = "[Pasted text #1 · 40 lines]"


@dataclass
class Typist:
    """A person at a prompt: keys in, text out. `|` is the cursor."""

    step: Step

    @classmethod
    def at(cls, drawn: str) -> "Typist":
        before, _, after = drawn.partition("|")
        return cls(Step(before + after, len(before), VimState(mode=VimMode.NORMAL)))

    def type(self, keys: str) -> "Typist":
        """Types the keys; `⎋` is Esc. In insert mode a character goes in at the cursor, as the editor does it."""
        for character in keys:
            self.press("escape" if character == "⎋" else character)
        return self

    def press(self, key: str) -> None:
        before = self.step
        self.step = press(before.text, before.cursor, key, before.state)
        if self.step.effect is Effect.UNUSED and before.state.mode is VimMode.INSERT and len(key) == 1:
            text = before.text[: before.cursor] + key + before.text[before.cursor :]
            self.step = Step(text, before.cursor + 1, before.state)

    @property
    def drawn(self) -> str:
        return f"{self.step.text[: self.step.cursor]}|{self.step.text[self.step.cursor :]}"


@pytest.mark.parametrize(
    "before,keys,after",
    [
        ("one |two three", "h", "one| two three"),
        ("|one two", "2l", "on|e two"),
        ("on|e", "l", "on|e"),
        ("|one, two", "w", "one|, two"),
        ("|one, two", "W", "one, |two"),
        ("one two thr|ee", "2b", "one |two three"),
        ("a\n|\nb", "w", "a\n\n|b"),
        ("|a\n\n\nb", "2w", "a\n\n|\nb"),
        ("|one two", "e", "on|e two"),
        ("|one two", "2e", "one tw|o"),
        ("  one t|wo", "0", "|  one two"),
        ("  one t|wo", "^", "  |one two"),
        ("|one two", "$", "one tw|o"),
        ("a\nb\nc|", "gg", "|a\nb\nc"),
        ("|a\nb\n c", "G", "a\nb\n |c"),
        ("|a\nb\nc", "2G", "a\n|b\nc"),
        ("|a,b,c", "f,", "a|,b,c"),
        ("|a,b,c", "2f,", "a,b|,c"),
        ("|a,b,c", "f,;", "a,b|,c"),
        ("|a,b,c", "f,;,", "a|,b,c"),
        ("a,b,|c", "T,", "a,b,|c"),
        ("a,b,|c", "F,", "a,b|,c"),
        ("|a,b,c", "t,;", "a,|b,c"),
        ("|abc\nd\nefg", "ljj", "abc\nd\ne|fg"),
        ("|abc\nd\nefg", "$jj", "abc\nd\nef|g"),
        ("a\n\nb|", "{", "a\n|\nb"),
        ("|中文 emoji", "w", "中文 |emoji"),
        ("|中文かな", "w", "中文|かな"),
        ("中|文\nabcd", "j", "中文\nab|cd"),
        (f"|{FAMILY}x", "l", f"{FAMILY}|x"),
        ("|e\u0301x", "x", "|x"),
        (f"a|{CHIP} b", "x", "a| b"),
        (f"|a {CHIP} b", "2w", f"a {CHIP} |b"),
        (f"a {CHIP} |b", "hh", f"a |{CHIP} b"),
    ],
)
def test_a_motion_leads_where_vim_leads(before: str, keys: str, after: str) -> None:
    assert Typist.at(before).type(keys).drawn == after


@pytest.mark.parametrize(
    "before,keys,after",
    [
        ("|one two", "dw", "|two"),
        ("one |two", "dw", "one| "),
        ("one |two\nthree", "dw", "one| \nthree"),
        ("|one two three", "d2w", "|three"),
        ("|one two three", "2dw", "|three"),
        ("one| two", "D", "on|e"),
        ("a\n|b\nc", "dd", "a\n|c"),
        ("a\n|b", "dd", "|a"),
        ("|a\nb\nc", "2dd", "|c"),
        ("|a\nb\nc", "dj", "|c"),
        ("a\nb\n|c", "dgg", "|"),
        ("|one two", "cwx⎋", "|x two"),
        ("one |two", "Cx⎋", "one |x"),
        ("a\n |b\nc", "ccx⎋", "a\n|x\nc"),
        ('say "o|ld" now', 'ci"new⎋', 'say "ne|w" now'),
        ('say "o|ld" now', 'da"', "say |now"),
        ("f(a, (b|), c)", "di(", "f(a, (|), c)"),
        ("f(a, |b, c)", "da(", "|f"),
        ("one t|wo three", "diw", "one | three"),
        ("one t|wo three", "daw", "one |three"),
        ("one t|wo", "daw", "on|e"),
        ("a\nb|\n\nc", "dip", "|\nc"),
        ("a\nb|\n\nc", "dap", "|c"),
        ("|abc", "x", "|bc"),
        ("ab|c", "x", "a|b"),
        ("ab|c", "X", "a|c"),
        ("|abc", "3x", "|"),
        ("|abc", "rx", "|xbc"),
        ("|abc", "2rx", "x|xc"),
        ("|abc", "5rx", "|abc"),
        ("|aBc", "3~", "Ab|C"),
        ("|a\n  b\nc", "J", "a| b\nc"),
        ("|a\nb\nc", "3J", "a b| c"),
        ("|one two", "dwP", "one| two"),
        ("|ab", "xp", "b|a"),
        ("|a\nb", "yyp", "a\n|a\nb"),
        ("|a\nb", "ddp", "b\n|a"),
        ("a\n|b", "yyP", "a\n|b\nb"),
        ("|one two", "ywP", "one| one two"),
        ("|ab", "ix⎋", "|xab"),
        ("|ab", "ax⎋", "a|xb"),
        (" |ab", "Ix⎋", " |xab"),
        ("|ab", "Ax⎋", "ab|x"),
        ("|a\nb", "ox⎋", "a\n|x\nb"),
        ("a\n|b", "Ox⎋", "a\n|x\nb"),
        ("|ab", "3ix⎋", "xx|xab"),
        ("|one two three", "dw.", "|three"),
        ("|one two three", "cwx⎋w.", "x |x three"),
        ("|a b c d", "dw2.", "|d"),
        ("|abc\nd", "Ax⎋j.", "abcx\nd|x"),
        ("|abcd", "vld", "|cd"),
        ("abc|d", "vhd", "a|b"),
        ("|a\nb\nc", "Vjd", "|c"),
        ("|a b c", "vey", "|a b c"),
        ("one t|wo three", "viwcx⎋", "one |x three"),
        ("|abc def", "wviwy0P", "de|fabc def"),
        ("|abcd", "vl~", "|ABcd"),
        ("|abcd", "vlrx", "|xxcd"),
        ("|a\nb", "VjJ", "a| b"),
        ("|ab cd", "yiwwviwp", "ab |ab"),
        ("a|bcd", "vlo", "a|bcd"),
        ("|abcdef", "vld.", "|ef"),
        ("|中文测试", "2x", "|测试"),
        (f"|{FAMILY}x", "x", "|x"),
    ],
)
def test_a_change_leaves_what_vim_leaves(before: str, keys: str, after: str) -> None:
    assert Typist.at(before).type(keys).drawn == after


def test_an_incomplete_command_is_shown_and_escape_forgets_it() -> None:
    typist = Typist.at("|one two").type("2d")
    assert typist.step.state.label == "NORMAL 2d"
    assert typist.type("⎋w").drawn == "one |two"


def test_escape_and_enter_in_normal_mode_are_left_to_the_chat() -> None:
    for key in ("escape", "enter", "ctrl+j", "tab", "f1"):
        assert press("a", 0, key, VimState(mode=VimMode.NORMAL)).effect is Effect.UNUSED


def test_the_first_and_the_last_line_lead_into_the_history() -> None:
    assert Typist.at("a\n|b").type("j").step.effect is Effect.HISTORY_FORWARD
    assert Typist.at("|a\nb").type("k").step.effect is Effect.HISTORY_BACK
    assert Typist.at("|a\nb").type("dk").step.effect is Effect.NONE


KEYS = st.sampled_from([*"hjklwbeWBE0^$gGfFtT;,23dcyiaIAoOxXDCYsSpPrJ~u.vV\"'(){}pW中 ", "escape", "enter", "ctrl+r"])
TEXTS = st.lists(st.sampled_from([*'ab ._\n"(){}中かé', "\u0301", FAMILY, CHIP, "🇩", "\u200d"]), max_size=25).map(
    "".join
)


@given(TEXTS, st.integers(0, 200), st.lists(KEYS, max_size=30))
@example("a", 0, ["d", "d", "p", ".", "9", "9", "9", "p"])
def test_no_keys_break_it_and_each_change_can_be_taken_back(text: str, cursor: int, keys: list[str]) -> None:
    """The cursor stays at a unit's beginning, on one in normal mode; a text changes only in a step that says so."""
    typist = Typist(Step(text, min(cursor, len(text)), VimState()))
    for key in ["escape", *keys]:
        before = typist.step
        typist.press(key)
        step = typist.step
        assert 0 <= step.cursor <= len(step.text)
        if step.state.mode is not VimMode.INSERT:
            assert step.cursor in offsets(step.text)
            assert step.cursor < len(step.text) or not step.text or step.text.endswith("\n")
        if step.effect in {Effect.UNDO, Effect.REDO, Effect.HISTORY_BACK, Effect.HISTORY_FORWARD}:
            assert step.text == before.text
        if len(step.text) > 5_000:
            return


@given(
    TEXTS,
    st.integers(0, 200),
    st.sampled_from(["dw", "db", "de", "dd", "d$", "d0", "diw", "daw", "dip", "dG", "x", "X"]),
)
def test_what_is_deleted_can_be_put_back(text: str, cursor: int, keys: str) -> None:
    """The register holds every character that left the text."""
    typist = Typist(Step(text, min(cursor, len(text)), VimState())).type("⎋" + keys)
    register = typist.step.state.register.text
    gone = len(text) - len(typist.step.text)
    assert gone in {len(register), len(register) + 1} or not gone


@given(TEXTS)
def test_units_are_the_text(text: str) -> None:
    assert "".join(units(text)) == text


@pytest.mark.parametrize(
    "before,keys,after",
    [
        ("|x", "2onew⎋", "x\nnew\nne|w"),
        ("|x", "3O新⎋", "新\n新\n|新\nx"),
        ("|x", "onew⎋2.", "x\nnew\nnew\nne|w"),
        ("a\n|\nb", "yyp", "a\n\n|\nb"),
        ("a\n|\nb", "yy2P", "a\n|\n\n\nb"),
        ("one en|d", "de", "one e|n"),
        ("one en|d", "ceX⎋", "one en|X"),
        ("|one", "ctzx", "|ne"),
    ],
)
def test_counts_empty_lines_and_searches_that_fail_are_as_in_vim(before: str, keys: str, after: str) -> None:
    assert Typist.at(before).type(keys).drawn == after
