"""Text area whose cursor moves by graphemes and chips, and whose keys act in the order in which they were typed."""

from textual import events
from textual.widgets.text_area import Location

from tui.widgets.prompt.long_lines import LongLineArea
from tui.widgets.prompt.units import after, before


class UnitTextArea(LongLineArea):
    """The cursor is never within a grapheme or a chip: both are passed and deleted whole."""

    @property
    def cursor_offset(self) -> int:
        """The cursor as an offset in the text."""
        row, column = self.cursor_location
        return sum(len(self.document.get_line(number)) + 1 for number in range(row)) + column

    def location_at(self, offset: int) -> Location:
        """The row and column of an offset in the text."""
        before_it = self.text[:offset]
        return before_it.count("\n"), len(before_it) - before_it.rfind("\n") - 1

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without an edit to take back or to do again, the key of `undo` is the application's."""
        if action == "undo":
            return bool(self.history.undo_stack or self.history.redo_stack or self.text)
        return super().check_action(action, parameters)

    def get_cursor_left_location(self) -> Location:
        row, column = self.cursor_location
        return (row, before(self.document.get_line(row), column)) if column else super().get_cursor_left_location()

    def get_cursor_right_location(self) -> Location:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        return (row, after(line, column)) if column < len(line) else super().get_cursor_right_location()

    def get_cursor_up_location(self) -> Location:
        return self._at_unit(super().get_cursor_up_location())

    def get_cursor_down_location(self) -> Location:
        return self._at_unit(super().get_cursor_down_location())

    def get_cursor_word_left_location(self) -> Location:
        return self._at_unit(super().get_cursor_word_left_location())

    def get_cursor_word_right_location(self) -> Location:
        return self._at_unit(super().get_cursor_word_right_location(), later=True)

    def get_target_document_location(self, event: events.MouseEvent) -> Location:
        return self._at_unit(super().get_target_document_location(event))

    def _at_unit(self, location: Location, *, later: bool = False) -> Location:
        """The location itself, or where the grapheme or chip around it begins; with `later` where it ends."""
        row, column = location
        line = self.document.get_line(row)
        begin = before(line, column + 1) if column < len(line) else column
        return row, after(line, begin) if later and begin < column else begin
