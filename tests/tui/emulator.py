"""A terminal in memory: characters, colours and the cells that they take."""

import pyte
from rich.cells import split_graphemes


class Emulator(pyte.Screen):
    """A terminal without line wrap that counts cells as Rich does: pyte drops what follows a joiner."""

    def draw(self, data: str) -> None:
        for start, end, width in split_graphemes(data)[0]:
            grapheme = data[start:end]
            line = self.buffer[self.cursor.y]
            if not width:
                continue
            x = min(self.cursor.x, self.columns - width)
            if line[x].data == "":  # half of a wide character is overwritten
                line[x - 1] = line[x - 1]._replace(data=" ")
            if x + width < self.columns and line[x + width].data == "":
                line[x + width] = line[x + width]._replace(data=" ")
            for column in range(x, x + width):
                line[column] = self.cursor.attrs._replace(data=grapheme if column == x else "")
            self.cursor.x = min(x + width, self.columns)

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
