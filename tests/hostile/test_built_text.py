"""By reading the screen's sources: whatever is built of text comes through the sanitiser, or says here why not."""

import ast
from pathlib import Path

import tui

SINKS = frozenset({"Static", "Label", "Option", "Text", "Segment", "Content"})
SANCTIONED = frozenset(
    {
        "visible",
        "visible_line",
        "_one_line",
        "clipped",
        "escape_name",
        "ink",
        "iso",
        "len",
        "minute",
        "day",
        "likelihood",
        "_row_text",
        "preview",
        "_preview_text",
        "row_text",
        "bar",
    }
)
"""Functions whose result holds nothing that a terminal obeys."""
REASONS = {
    "tui/output/whole_clusters.py split_cells": "the parts of a segment that was drawn already",
    "tui/themes/muted_rows.py apply": "segments that were drawn already, in another colour",
    "tui/chat/foot.py _say_what_returned": "a sentence of our own",
    "tui/dialogs/line.py compose": "the heading and the notes are made visible when the screen is made",
    "tui/dialogs/permission.py _show_keys": "figures, and names of our own keys",
    "tui/widgets/side_panel.py render_line": "_row_lines makes text and figure visible",
    "tui/palette/screen.py compose": "titles and notes of our own",
    "tui/widgets/find_bar.py compose": "a text of our own, without the key",
    "tui/settings/screen.py _row_text": "names and sentences of our own, and a value that visible_line made",
    "tui/palette/screen.py _show": "our own headings",
    "tui/settings/screen.py _show": "constants of ours, and a figure",
    "tui/widgets/transcript/diff_code.py diff_lines": "a number and a sign; visible makes the diff visible",
    "tui/palette/screen.py _line": "rows are made visible where they are made",
    "tui/images/half_blocks.py picture_lines": "shades of a picture's pixels",
    "tui/dialogs/choices.py compose": "_heading is made visible when the screen is made",
    "tui/dialogs/choices.py _show": "_option_text makes label and detail visible",
    "tui/chat/view.py show_waiting": "lines that clip makes of visible text, and a number",
    "tui/dialogs/confirm.py compose": "names, summaries, headings and rows are made visible when the screens are made",
    "tui/dialogs/confirm.py compose_facts": "the rows are made visible when the screen is made",
    "tui/overview/restore_dialog.py compose_facts": "diff_text makes each line visible",
    "tui/dialogs/permission.py compose": "all texts are made visible when the screen is made",
    "tui/dialogs/text_rows.py render_line": "the lines of a question are made visible when its screen is made",
    "tui/dialogs/permission.py _show_answers": "our own answers, and visible_line of what was typed",
    "tui/passages/screen.py _description": "the trust, of our own words",
    "tui/passages/text_screen.py compose": "_heading is made visible when the screen is made",
    "tui/passages/text_screen.py _say": "figures, our own words, and a query made visible",
    "tui/widgets/title_line.py render": "the title and the folder come through visible_line",
    "tui/widgets/focus_bar.py render": "names of our own actions",
    "tui/picker/level.py row_text": "clip cuts what its callers made visible",
    "tui/picker/level.py heading_text": "clip cuts what its callers made visible",
    "tui/search/preview.py _duplicates": "lines of visible_line",
    "tui/search/preview.py _score_parts": "names made visible, and figures",
    "tui/dialogs/question.py compose": "the question is made visible when the screen is made",
    "tui/dialogs/question.py _show_rows": "options and what was written come through visible_line",
    "tui/widgets/plan_panel.py _draw": "figures; visible_line makes each step visible",
    "tui/dialogs/trust.py compose": "facts, names and targets are made visible when the screens are made",
    "tui/widgets/prompt/long_lines.py _render_line": "the prompt makes its text visible as it is put in",
    "tui/widgets/prompt/suggestions.py render": "_one_line makes names and details visible",
    "tui/widgets/status.py render": "the hint is a constant; fit_line makes the status visible",
    "tui/widgets/status.py clip": "cuts what its callers made visible",
    "tui/chat/view.py show_rewriting": "the controller makes the message visible",
    "tui/overview/edit_screen.py _show_title": "_heading is made visible when the screen is made",
    "tui/overview/statistics_screen.py _chart": "figures, and a name that visible_line made",
    "tui/overview/list_screen.py _row_text": "clip cuts a visible line",
    "tui/widgets/transcript/wrap.py wrap_runs": "_paragraphs makes every run visible",
    "tui/widgets/transcript/wrap.py _slice": "a piece of a run that _paragraphs made visible",
    "tui/widgets/transcript/line_numbers.py lines": "a line's number",
    "tui/widgets/transcript/markdown.py _list": "a list's number or dot",
    "tui/widgets/transcript/items.py lines": "wrap_runs makes every run visible",
    "tui/widgets/transcript/items.py _labelled": "our own names of rows",
}


def unsanitised() -> set[str]:
    """`file function` of every construction of shown text whose words do not come through the sanitiser."""
    found: set[str] = set()
    base = Path(tui.__file__).parent.parent
    for path in sorted(Path(tui.__file__).parent.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                known = _clean_names(function)
                calls = [each for each in ast.walk(function) if isinstance(each, ast.Call) and each.args]
                if any(_name(call) in SINKS and not _clean(call.args[0], known) for call in calls):
                    found.add(f"{path.relative_to(base).as_posix()} {function.name}")
    return found


def _clean_names(function: ast.AST) -> set[str]:
    known: set[str] = set()
    for _ in range(3):
        for each in ast.walk(function):
            if isinstance(each, ast.Assign) and _clean(each.value, known):
                known |= {target.id for target in each.targets if isinstance(target, ast.Name)}
    return known


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _clean(node: ast.AST, known: set[str]) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
            return all(_clean(part, known) for part in parts)
        case ast.FormattedValue(value=value, format_spec=spec):
            return spec is not None or _clean(value, known)  # with a format it is a figure
        case ast.Name(id=name):
            return name.isupper() or name in known
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other, op=ast.Add()):
            return _clean(one, known) and _clean(other, known)
        case ast.BinOp(left=one, op=ast.Mult()) | ast.Starred(value=one) | ast.GeneratorExp(elt=one):
            return _clean(one, known)
        case ast.Attribute(attr="value"):
            return True  # of an enum of ours
        case ast.Call(
            func=ast.Attribute(value=value, attr="join" | "replace" | "expandtabs" | "ljust" | "split"), args=args
        ):
            return _clean(value, known) and all(_clean(each, known) for each in args)
        case ast.Call(args=args):
            return _name(node) in SANCTIONED or (
                _name(node) == "Text" and all(_clean(each, known) for each in args[:1])
            )
        case _:
            return False


def test_all_text_that_is_built_comes_through_the_sanitiser_or_says_why_not() -> None:
    assert unsanitised() == set(REASONS)


def test_no_widget_reads_markup_in_what_it_shows() -> None:
    found: list[str] = []
    for path in Path(tui.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and _name(call) in {"Static", "Label", "OptionList"}:
                off = any(each.arg == "markup" and ast.unparse(each.value) == "False" for each in call.keywords)
                if not off and not isinstance(call.func, ast.Attribute):
                    found.append(f"{path.name}:{call.lineno}")
    assert [place for place in found if place] == []


def test_the_reading_sees_raw_text() -> None:
    tree = ast.parse(
        "def shown(row):\n    title = row.title\n    return Static(f'{title} of {row.count:,}', markup=False)"
    )
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    assert not _clean(calls[0].args[0], _clean_names(tree))
    assert _clean(ast.parse("Text(visible(f'{title}'))", mode="eval").body, set())
