"""A text area in which a key costs about the same in a line of 10,000 characters as in a short one.

Textual wraps the whole line anew at each key, and divides all of it for each row that it draws. Here a key wraps its
line from two rows above the edit on, and a row is drawn from its own part of the line.
"""

from bisect import bisect_right

from rich.style import Style
from rich.text import Text
from textual._wrap import compute_wrap_offsets
from textual.document._document import Location
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.strip import Strip
from textual.widgets import TextArea

from tui.typed_app import app_of

_ROWS_ABOVE = 2  # a shorter word can go up a row


class LineWrap(WrappedDocument):
    """Wraps as Textual does, but of a line only the rows that an edit can change."""

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        row = start[0]
        if row != old_end[0] or row != new_end[0] or not self._wrap_from(row, min(start[1], old_end[1], new_end[1])):
            super().wrap_range(start, old_end, new_end)

    def _wrap_from(self, row: int, column: int) -> bool:
        """Wraps a line anew from the rows before this column on; False where that changes the number of its rows."""
        line, offsets = self.document.get_line(row), self.get_offsets(row)
        if not self._width or "\t" in line or any(self._tab_width_cache[row]):
            return False
        kept = offsets[: max(bisect_right(offsets, column) - _ROWS_ABOVE, 0)]
        begin = kept[-1] if kept else 0
        rest = compute_wrap_offsets(line[begin:], self._width, self._tab_width)
        wrapped = [*kept, *(begin + offset for offset in rest)]
        if len(wrapped) != len(offsets):
            return False
        self._wrap_offsets[row] = wrapped
        self._tab_width_cache[row] = [0] if line else []  # as get_tab_widths gives them for a line without tabs
        return True

    def get_sections(self, line_index: int) -> list[str]:
        line, offsets = self.document.get_line(line_index), self.get_offsets(line_index)
        return [line[begin:end] for begin, end in zip([0, *offsets], [*offsets, len(line)], strict=True)]


class LongLineArea(TextArea):
    """A text area without line numbers and highlighting."""

    def _set_document(self, text: str, language: str | None) -> None:
        super()._set_document(text, language)
        self.wrapped_document = LineWrap(self.document, self.wrap_width, self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)

    def _render_line(self, y: int) -> Strip:
        row = y + self.scroll_offset.y
        lines = self.wrapped_document._offset_to_line_info  # pyright: ignore[reportPrivateUsage] - as Textual's own
        line_index, section = lines[row] if row < len(lines) else (0, 0)
        line, offsets = self.document.get_line(line_index), self.wrapped_document.get_offsets(line_index)
        if row >= len(lines) or not offsets or "\t" in line or self.suggestion:
            return super()._render_line(y)
        begin = offsets[section - 1] if section else 0
        text = Text(f"{line[begin : offsets[section]]}" if section < len(offsets) else f"{line[begin:]} ", end="")
        for style, first, last in self._styled(line_index, len(line)):
            if style and first < begin + len(text) and last > begin:
                text.stylize(style, max(first - begin, 0), last - begin)
        theme = self._theme
        base = self.rich_style if theme.base_style is None else theme.base_style
        strip = Strip(text.render(app_of(self).console), cell_length=text.cell_len)
        width = self.scrollable_content_region.size.width
        return strip.extend_cell_length(width, theme.base_style).apply_style(base)

    def _styled(self, row: int, length: int) -> list[tuple[Style | None, int, int]]:
        """What of a line is selected, is a pair of brackets and is the cursor: styles, and columns from and to."""
        theme, partner = self._theme, self._matching_bracket_location
        cursor, column = self.selection.end
        (top, first), (bottom, last) = sorted(self.selection)
        styled: list[tuple[Style | None, int, int]] = []
        if top <= row <= bottom and not self.selection.is_empty:
            styled.append((theme.selection_style, first if row == top else 0, last if row == bottom else length))
        has_pair = self.match_cursor_bracket and partner is not None and self.selection.is_empty and self._has_cursor
        if has_pair and row == cursor:
            styled.append((theme.bracket_matching_style, column, column + 1))
        if row == cursor and self._draw_cursor:
            styled.append((theme.cursor_style, column, column + 1))
        if has_pair and partner is not None and row == partner[0]:
            styled.append((theme.bracket_matching_style, partner[1], partner[1] + 1))
        return styled
