"""Reports of the terminal that it is light or dark now, taken out of the input.

With mode 2031 it reports each change by itself: `CSI ? 997 ; 1 n` for dark, 2 for light
(https://contour-terminal.org/vt-extensions/color-palette-update-notifications/). Others tell the colour of the ground
where they are asked with OSC 11, which the application does whenever it gets the focus.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from textual.driver import Driver
from textual.message import Message

from tui.themes.terminal import GROUND, is_dark_colour

ASK: Final = "\x1b]11;?\x1b\\"
REPORT_CHANGES: Final = "\x1b[?2031h"
STOP_REPORTS: Final = "\x1b[?2031l"
DARK_NOW: Final = "1"
_REPORT: Final = re.compile(rf"\x1b\[\?997;(?P<mode>[12])n|{GROUND}")
_BEGUN: Final = re.compile(r"\x1b(?:\]1[^\x07\x1b]{0,48}\x1b?|\[\?9[0-9;]{0,4})\Z")  # no key begins so


@dataclass
class GroundReported(Message):
    """The terminal is dark, or light."""

    is_dark: bool


class GroundReports:
    """Takes the reports out of an input that arrives in pieces."""

    def __init__(self) -> None:
        self._held = ""  # the beginning of what may be a report

    def feed(self, data: str) -> Iterator[str | GroundReported]:
        """The input between the reports, and the reports. What begins like one is held until it is whole."""
        data, self._held = self._held + data, ""
        end = 0
        for report in _REPORT.finditer(data):
            yield data[end : report.start()]
            end = report.end()
            mode, *colour = report.groups()
            yield GroundReported(mode == DARK_NOW if mode else is_dark_colour(*colour))
        rest = data[end:]
        if begun := _BEGUN.search(rest):
            rest, self._held = rest[: begun.start()], begun.group()
        yield rest

    def release(self) -> str:
        """What was held and has not become a report."""
        held, self._held = self._held, ""
        return held


def reporting_driver(base: type[Driver]) -> type[Driver]:
    """The driver, changed to have the changes reported while it has the terminal."""

    class ReportingDriver(base):
        def start_application_mode(self) -> None:
            super().start_application_mode()
            self._report(REPORT_CHANGES)

        def stop_application_mode(self) -> None:
            self._report(STOP_REPORTS)
            super().stop_application_mode()

        def _report(self, sequence: str) -> None:
            if getattr(self, "_writer_thread", None) is not None:
                self.write(sequence)

    return ReportingDriver
