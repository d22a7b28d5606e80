"""Ways in which a token is broken: over lines, in strings that are added, by what a terminal puts into it."""

import base64
import json
import quopri
import textwrap
from collections.abc import Callable

Breaking = Callable[[str], str]


def _cut(token: str, width: int, joint: str, first: int | None = None) -> str:
    """The token in parts of `width` (the first of `first`) characters."""
    head = token[: first or width]
    rest = token[first or width :]
    return joint.join([head, *(rest[at : at + width] for at in range(0, len(rest), width))])


def _broken(width: int, joint: str, around: str = "{}", first: int | None = None) -> Breaking:
    return lambda token: around.format(_cut(token, width, joint, first))


def _hard_wrapped(lead: str, width: int, prefix: Callable[[int], str] = lambda _: "") -> Breaking:
    """As a terminal wraps a long line: every line as wide as it is, each after its prefix."""

    def wrap(token: str) -> str:
        whole = f"{lead}{token} and so on"
        lines = [whole[at : at + width] for at in range(0, len(whole), width)]
        return "\n".join(prefix(number) + line for number, line in enumerate(lines, 1))

    return wrap


def _base64(token: str) -> str:
    return base64.b64encode((token + "\n# and more of a file, so that it takes some lines\n" * 3).encode()).decode()


BREAKINGS: dict[str, Breaking] = {
    "lines of 20": _broken(20, "\n"),
    "lines of 32": _broken(32, "\n"),
    "lines of 16, CRLF": _broken(16, "\r\n"),
    "in a sentence": _broken(24, "\n", "my key is {} ok?", 18),
    "indented": _broken(20, "\n    ", "key: {}"),
    "a folded header": _broken(24, "\n\t", "X-Token: {}\nX-Other: 1"),
    "mail folding": _broken(30, "\r\n ", "Authorization: {}\r\nDate: today"),
    "YAML, folded": _broken(24, "\n  ", "token: >-\n  {}\nname: x"),
    "a backslash": _broken(20, "\\\n"),
    "a shell's continuation": _broken(20, "\\\n    ", "export TOKEN={} && run"),
    "quoted-printable": lambda token: quopri.encodestring(f"a key, {'x' * 30} {token} and on".encode()).decode(),
    "quoted-printable, at 20": _broken(20, "=\n"),
    "quoted-printable, CRLF": _broken(20, "=\r\n"),
    "a quotation": _broken(24, "\n> ", "> {}\n> and on"),
    "a quotation in a quotation": _broken(24, "\n> > ", "> > {}"),
    "strings added with +": _broken(16, '" +\n    "', 'const key = "{}";'),
    "strings added on a line": _broken(16, '" + "', 'key = "{}"'),
    "strings in single quotes": _broken(16, "' +\n  '", "key = '{}';"),
    "strings side by side": _broken(16, '"\n    "', 'key = (\n    "{}"\n)'),
    "strings of C": _broken(16, '" \\\n  "', '#define KEY "{}"'),
    "strings of PHP": _broken(16, "' .\n  '", "$key = '{}';"),
    "strings of Lua": _broken(16, '" .. "', 'local key = "{}"'),
    "strings of Basic": _broken(16, '" & _\n    "', 'key = "{}"'),
    "a terminal at 80": _hard_wrapped("curl -H 'PRIVATE-TOKEN: x' https://example.com/api/v4/projects ", 80),
    "a terminal at 40": _hard_wrapped("the key is ", 40),
    "line numbers": _hard_wrapped("the key is ", 40, lambda number: f"{number:>4}  "),
    "line numbers and a bar": _hard_wrapped("the key is ", 40, lambda number: f"{number:>4} | "),
    "a comment": _broken(24, "\n# ", "# {}\n"),
    "a comment of C": _broken(24, "\n// ", "// {}\n"),
    "a comment's stars": _broken(24, "\n * ", "/*\n * {}\n */"),
    "a diff": _broken(24, "\n+", "+{}\n"),
    "a box": _broken(24, " │\n│ ", "│ {} │"),
    "a table": _broken(24, " |\n| ", "| {} |"),
    "a colour within": lambda token: f"{token[:12]}\x1b[32m{token[12:]}\x1b[0m",
    "colours within": _broken(14, "\x1b[0m\x1b[1;31m"),
    "a soft hyphen": _broken(16, "\xad"),
    "zero-width spaces": _broken(14, "\u200b"),
    "breaks of HTML": _broken(20, "<br>"),
    "breaks and lines": _broken(20, "<br/>\n"),
    "wbr": _broken(14, "<wbr>"),
    "lines in JSON": lambda token: json.dumps({"note": _cut(token, 20, "\n")}),
    "base64 in lines of 76": lambda token: "\n".join(textwrap.wrap(_base64(token), 76)),
    "base64 in lines of 64": lambda token: "\n".join(textwrap.wrap(_base64(token), 64)),
    "base64 in lines of 60, indented": lambda token: "  " + "\n  ".join(textwrap.wrap(_base64(token), 60)),
}

NOT_KNOWN: dict[str, Breaking] = {
    "spaced": _broken(4, " "),
    "an empty line": _broken(20, "\n\n"),
    "lines of 6": _broken(6, "\n"),
    "lines of many widths": lambda token: "\n".join([token[:13], token[13:16], token[16:25], token[25:27], token[27:]]),
    "strings in a list": _broken(16, '", "', '["{}"]'),
    "words between": _broken(16, "\nand then\n"),
}
"""Breakings in which most tokens are not known. They are named in docs/reference/privacy.md."""
