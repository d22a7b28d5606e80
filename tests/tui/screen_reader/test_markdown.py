"""Markdown as lines: each makes sense alone, and none waits longer than its sentence."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tui.screen_reader.markdown import LinearMarkdown, plain

ANSWER = """# Boats 船

The *harbour* opens at **nine**. It closes at `18:00`; see [the plan](https://example.org/plan).
It is small.

| boat | berth |
|------|-------|
| Ada  | 3     |
| 海鸥 |       |

- first
  - nested
- [x] painted
1. one

```python
print("hi")

x = 1
```

![a map](map.png)

> quoted words

---
The end 🚢"""

LINES = [
    "Heading 1: Boats 船",
    "The harbour opens at nine.",
    "It closes at 18:00; see the plan (link: https://example.org/plan).",
    "It is small.",
    "Table with 2 columns: boat, berth.",
    "Row 1. boat: Ada; berth: 3",
    "Row 2. boat: 海鸥; berth: empty",
    "End of table, 2 rows.",
    "- first",
    "Level 2: - nested",
    "- done: painted",
    "1. one",
    "Code block, python, 3 lines:",
    'print("hi")',
    "",
    "x = 1",
    "End of code.",
    "image: a map (map.png)",
    "Quote: quoted words",
    "The end 🚢",
]


def lines_of(*pieces: str) -> list[str]:
    said: list[str] = []
    markdown = LinearMarkdown(said.append, lambda title, _read: f"/show 1 ({title})")
    for piece in pieces:
        markdown.feed(piece)
    markdown.end()
    return said


def test_an_answer_becomes_lines() -> None:
    assert lines_of(ANSWER) == LINES


@given(st.lists(st.integers(0, len(ANSWER)), max_size=12))
def test_the_pieces_in_which_it_comes_change_nothing(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(ANSWER)]
    assert lines_of(*(ANSWER[a:b] for a, b in pairwise(ends))) == LINES


@given(st.text(alphabet="ab .|-*`[]()#>\n1\\~_!中🚢", max_size=80))
def test_any_text_is_said_without_failing(text: str) -> None:
    said = "".join(lines_of(text))
    if not any(mark in text for mark in "`~|()["):  # a language, an address and an empty cell are said otherwise
        assert [sign for sign in said if sign in "中🚢"] == [sign for sign in text if sign in "中🚢"]


def test_a_sentence_is_said_as_soon_as_the_next_begins() -> None:
    said: list[str] = []
    markdown = LinearMarkdown(said.append, lambda *_: "")
    markdown.feed("One is done. Two")
    assert said == ["One is done."]
    markdown.feed(" goes on")
    assert said == ["One is done."]
    markdown.feed(". Three")
    assert said == ["One is done.", "Two goes on."]


def test_a_long_code_block_is_folded() -> None:
    code = "\n".join(f"line {number}" for number in range(41))
    assert lines_of(f"```sh\n{code}\n```") == ["Code block, sh, 41 lines: /show 1 (Code block, sh, 41 lines) reads it."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("snake_case_name stays", "snake_case_name stays"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("***both***", "both"),
        (r"\*stars\*", "*stars*"),
        ("`*code*`", "*code*"),
        ("<https://a.example>", "https://a.example"),
        ("[https://a.example](https://a.example)", "https://a.example"),
    ],
)
def test_words_are_kept(text: str, words: str) -> None:
    assert plain(text) == words


REFERENCES = """See [the plan][p] and [the 海图][]; `a[0][1]` and m[i][j] are cells, [1][2] too, ![map][m].

[p]: https://example.org/plan "The plan"
[the 海图]: <https://example.org/chart>
[^1]: A note of its own.
[x]: several words here
"""


@given(st.lists(st.integers(0, len(REFERENCES)), max_size=12))
@example([])
def test_a_link_by_reference_names_its_label_and_the_label_is_said_with_its_address(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(REFERENCES)]
    assert lines_of(*(REFERENCES[a:b] for a, b in pairwise(ends))) == [
        "See the plan (link p) and the 海图 (link the 海图); a[0][1] and m[i][j] are cells, [1][2] too, ![map][m].",
        "Link p: https://example.org/plan",
        "Link the 海图: https://example.org/chart",
        "[^1]: A note of its own.",
        "[x]: several words here",
    ]
