"""HTML reader: the visible text, with a place at each heading, without scripts, styles and comments."""

import codecs
import re
from html.parser import HTMLParser

from memory.knowledge.readers.document import Document, DocumentLocation
from memory.knowledge.readers.encodings import DecodedText
from memory.knowledge.readers.text import decoded, shortened

_UNREAD = frozenset({"script", "style", "noscript", "template", "svg", "math", "iframe", "object", "head"})
_ALL_BLOCKS = """
    address article aside blockquote br dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4
    h5 h6 header hr li main nav ol p pre section summary table td th tr ul
"""
_BLOCKS = frozenset(_ALL_BLOCKS.split())
_PRIVATE = "private"
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-zA-Z0-9_.:\-]{1,40})""", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\r\n\f]+")


def read_html(raw: bytes) -> Document:
    """Parses an HTML file. Raises UnreadableDocument."""
    reader = _HtmlTextParser()
    source, encoding = decoded_html(raw)
    reader.feed(source)
    reader.close()
    text, places = reader.found()
    return Document(kind="html", text=text, places=places, encoding=encoding)


def decoded_html(raw: bytes) -> DecodedText:
    """Decodes by a byte order mark, else by the declared encoding, else as any text."""
    named = _CHARSET.search(raw[:4096])
    if raw[:2] in {codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE} or not named:
        return decoded(raw)
    try:
        encoding = codecs.lookup(named[1].decode("ascii")).name
        as_browsers = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
        return DecodedText(raw.decode(as_browsers.get(encoding, encoding)), "")
    except (LookupError, UnicodeDecodeError):  # the declared encoding is wrong
        return decoded(raw)


class _HtmlTextParser(HTMLParser):
    """Collects lines. `_unread` are the open elements whose text is skipped; a `head` ends at the body."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._unread: list[str] = []
        self._lines: list[str] = [""]
        self._headings: dict[int, str] = {}  # by line
        self._pre = 0
        self._in_title = False
        self._title = ""

    def parse_html_declaration(self, i: int) -> int:
        """As browsers do, a declaration of another kind is a comment; html.parser gives up there."""
        try:
            return super().parse_html_declaration(i)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self._unread = []
        elif tag in _UNREAD:
            self._unread.append(tag)
        if tag == _PRIVATE and not self._unread:
            self._mark_private("<private>")
        self._in_title = tag == "title" and "svg" not in self._unread
        if tag in _BLOCKS:
            self._break(cell=tag in {"td", "th"})
        if tag == "pre":
            self._pre += 1
        if tag == "li":
            self._lines[-1] += "- "
        if tag == "img" and not self._unread:
            self._lines[-1] += next((alt for name, alt in attrs if name == "alt" and alt), "")
        if tag in _HEADINGS and not self._unread:
            self._headings[len(self._lines) - 1] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in self._unread:
            del self._unread[self._unread.index(tag) :]
        self._in_title = False
        if tag == _PRIVATE and not self._unread:
            self._mark_private("</private>")
        if tag == "pre":
            self._pre = max(0, self._pre - 1)
        if tag in _BLOCKS:
            self._break(cell=tag in {"td", "th"})

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title += data
        if self._unread:
            return
        if self._pre:
            first, *rest = data.split("\n")
            self._lines[-1] += first
            self._lines += rest
            return
        words = _BLANKS.sub(" ", data)
        self._lines[-1] += words.lstrip(" ") if self._lines[-1][-1:] in {"", " "} else words

    def found(self) -> tuple[str, tuple[DocumentLocation, ...]]:
        """The text, with no more than one empty line in a row, and its headings."""
        title = " ".join(self._title.split())
        out, places, at = list[str](), list[DocumentLocation](), 0
        for number, raw in enumerate(self._lines):
            line = raw.rstrip(" |")
            if not line.strip(" -|") and (not out or not out[-1]):
                continue
            if number in self._headings and line.strip():
                places.append(DocumentLocation(at, shortened(line)))
            out.append(line)
            at += len(line) + 1
        text = "\n".join(out).rstrip("\n")
        if not places or places[0].start > 0:
            places.insert(0, DocumentLocation(0, shortened(title)))
        return text, tuple(places)

    def _mark_private(self, tag: str) -> None:
        """Keeps the tag as text, as whoever wrote the page means it; never right behind a letter, where it is none."""
        line = self._lines[-1]
        self._lines[-1] = line + (" " if tag == "<private>" and line[-1:].isalnum() else "") + tag

    def _break(self, *, cell: bool) -> None:
        if self._unread:
            return
        if cell:
            if self._lines[-1].strip():
                self._lines[-1] = self._lines[-1].rstrip(" |") + " | "
        elif self._lines[-1]:
            self._lines.append("")
