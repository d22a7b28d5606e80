"""What foreign text may carry to steer a terminal: sequences of every kind, hidden and turning characters."""

import random
import re
from collections.abc import Iterator

OSC = (0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 17, 19, 22, 50, 52, 99, 104, 110, 111, 112, 133, 176, 440, 633, 777, 1337)
"""Numbers of operating system commands that terminals in use obey: titles, clipboard, fonts, colours, notifications."""
CSI = (
    "2J",
    "H",
    "3J",
    "?1049h",
    "?25l",
    "6n",
    "c",
    ">c",
    "=c",
    "5n",
    "21t",
    "14t",
    "18t",
    "?2004l",
    "1;1H",
    "31m",
    "8m",
    "10S",
    "10T",
    "?1000h",
    "?5h",
    "s",
    "u",
    "!p",
    "?6c",
    "0$}",
    "4h",
    "20h",
    "2K",
    "1M",
    "99@",
    "99P",
    "99X",
    "?69h",
)
STRINGS = ("P", "_", "^", "X")  # DCS, APC, PM, SOS
BODIES = ("$qm", "+q544e", "Gf=24,a=q;AAAA", "tmux;\x1b\x1b]0;x\x07", "q#0;2;0;0;0~-", "1$r0m", "evil")
SHORT = ("c", "7", "8", "D", "E", "M", "N", "O", "H", "=", ">", "#8", "(0", ")0", "%G", "%@", "n", "o", "|", "}", "~")

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\u180e\u200b\u2060-\u2065"
    "\u206a-\u206f\ufeff\ufff9-\ufffb\u115f\u1160\u3164\uffa0\U000e0000-\U000e00ff\ud800-\udfff]"
)
"""What no output of foreign text holds; `\\n` and `\\t` may stand."""


def escapes() -> Iterator[str]:
    """Every payload, one after another, each with letters at both ends."""
    for number in OSC:
        for body in ("evil", "c;ZXZpbA==", "?"):
            for begin, end in (("\x1b]", "\x07"), ("\x1b]", "\x1b\\"), ("\x9d", "\x9c")):
                yield f"a{begin}{number};{body}{end}z"
    for tail in CSI:
        yield f"a\x1b[{tail}z"
        yield f"a\x9b{tail}z"
    for kind in STRINGS:
        for body in BODIES:
            yield f"a\x1b{kind}{body}\x1b\\z"
            yield f"a{chr(ord(kind) + 0x40)}{body}\x9cz"
    for tail in SHORT:
        yield f"a\x1b{tail}z"
    for code in (*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0)):
        yield f"a{chr(code)}z"
    for code in (0x61C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2028, 0x2029, *range(0x2060, 0x2070), 0xFEFF):
        yield f"a{chr(code)}z"
    for code in (0x180E, 0x115F, 0x1160, 0x3164, 0xFFA0, 0xE0001, 0xE0041, 0xE007F):
        yield f"a{chr(code)}z"
    for code in (0xD800, 0xDBFF, 0xDC80, 0xDCFF, 0xDFFF):
        yield f"a{chr(code)}z"
    yield "a\r\x1b[2Kfake prompt $ z"
    yield "a\x1b\x1b[\x1b]z"
    yield "a[/red][bold]]z[@click=app.quit]here[/]"
    yield "a&#x202E;z &rlm; &#8238;z"


def sample(count: int, seed: int = 9) -> list[str]:
    """So many of them, the same each time; all where there are no more."""
    every = list(escapes())
    return every if count >= len(every) else random.Random(seed).sample(every, count)
