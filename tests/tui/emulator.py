"""A terminal in memory: characters, colours and the cells that they take."""

import pyte
from rich.cells import split_graphemes


class Emulator(pyte.Screen):
    """A terminal without line wrap that counts cells as Rich does: pyte drops what follows a joiner. Output may come in
    any parts: what follows a part of a cluster belongs to it.
    """

    _last: tuple[str, int, tuple[int, int]] = ("", 0, (0, 0))  # drawn last, its column, and where the cursor was then

    def draw(self, data: str) -> None:
        last, column, cursor = self._last
        pen = self.cursor.attrs
        if last and (self.cursor.x, self.cursor.y) == cursor and split_graphemes(last + data)[0][0][1] > len(last):
            data, self.cursor.x, pen = last + data, column, self.buffer[self.cursor.y][column]
        for start, end, width in split_graphemes(data)[0]:
            if width:
                self._draw_grapheme(data[start:end], width, pen)
                pen = self.cursor.attrs

    def _draw_grapheme(self, grapheme: str, width: int, pen: pyte.screens.Char) -> None:
        line = self.buffer[self.cursor.y]
        x = min(self.cursor.x, self.columns - width)
        if line[x].data == "":  # half of a wide character is overwritten
            line[x - 1] = line[x - 1]._replace(data=" ")
        if x + width < self.columns and line[x + width].data == "":
            line[x + width] = line[x + width]._replace(data=" ")
        for cell in range(x, x + width):
            line[cell] = pen._replace(data=grapheme if cell == x else "")
        self.cursor.x = min(x + width, self.columns)
        self._last = grapheme, x, (self.cursor.x, self.cursor.y)

    @property
    def display(self) -> list[str]:
        """The characters of each row, a wide one once."""
        return ["".join(self.buffer[y][x].data for x in range(self.columns)) for y in range(self.lines)]


def cells(screen: pyte.Screen) -> list[list[tuple[object, ...]]]:
    """All that is seen: characters, without zero-width ones after them, and how they are drawn."""
    return [
        [(cell.data[:1], *cell[1:]) for cell in map(screen.buffer[y].__getitem__, range(screen.columns))]
        for y in range(screen.lines)
    ]
