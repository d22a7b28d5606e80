"""A numpy column that grows at its end at constant cost."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Column = NDArray[Any]


class GrowingColumn:
    """`view` is the filled part. A view taken before the column grew may miss later values.

    `room`: a buffer whose first `count` values are filled. It is used in place, and copied only when it is full.
    """

    def __init__(self, dtype: DTypeLike, room: Column | None = None, count: int = 0) -> None:
        self._room: Column = np.empty(16, dtype) if room is None else room
        self.count = count

    @property
    def view(self) -> Column:
        return self._room[: self.count]

    def append(self, value: int) -> None:
        if self.count == len(self._room):
            self._make_room(1)
        self._room[self.count] = value
        self.count += 1

    def extend(self, values: Column) -> None:
        end = self.count + len(values)
        if end > len(self._room):
            self._make_room(len(values))
        self._room[self.count : end] = values
        self.count = end

    def _make_room(self, extra: int) -> None:
        size = self.count + extra
        room = np.empty(max(16, size + max(size // 4, 1024)), self._room.dtype)
        room[: self.count] = self.view
        self._room = room
