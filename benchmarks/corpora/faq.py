"""Questions that people really ask, and the answers that somebody wrote: which answer belongs to the question?

A file or a folder of them, each a page of a FAQ:

- POD, as perlfaq1 to 9 are written (Debian's perl-doc): `=head2` is a question, what follows its answer.
- reStructuredText, as Python's FAQ is written (Debian's python3-doc, html/_sources/faq): a line over `---` or `~~~`.
- plain text, as Debian's FAQ is (debian-faq, debian-faq-zh-cn: FAQ/debian-faq.*.txt.gz): `2.3. Question?` at the left
  margin, its answer set in.

An answer is one passage, without its question; a page or a chapter is a conversation. What stands under a heading that
asks nothing is remembered as well, and asked for by nobody.
"""

import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.corpora.corpus import Asked, Corpus, Store, Turn

CATEGORIES = {"answer": "which answer belongs to the question"}
SUFFIXES = (".pod", ".rst", ".rst.txt", ".txt", ".txt.gz")

_Section = tuple[str, str, str]  # page or chapter, heading, body
_POD_HEADING = re.compile(r"^=head([12])\s+(.*?)\n\n", re.MULTILINE | re.DOTALL)
_RST_HEADING = re.compile(r"^(\S.*)\n([=~-])\2{4,}\s*$", re.MULTILINE)
_PLAIN_HEADING = re.compile(r"^(\d+)\.(\d+)\.(?:\d+\.)*\s+(\S.*(?:\n\S.*)*)\n", re.MULTILINE)
_POD_INDEX = re.compile(r"\s*[XZ]<[^<>]*>")
_POD_CODE = re.compile(r"[BCEFILS]<(?:<+\s+(.*?)\s+>+|([^<>]*))>", re.DOTALL)
_RST_ROLE = re.compile(r":[a-z:+-]+:`~?([^`<]*?)\s*(?:<[^>]*>)?`|``([^`]+)``|`([^`<]+?)\s*<[^>]*>`_+")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def pages(path: Path) -> list[Path]:
    """The pages at a path: itself, or those of the folder."""
    files = [path] if path.is_file() else sorted(each for each in path.iterdir() if each.is_file())
    return [each for each in files if each.name.endswith(SUFFIXES)]


def faq(path: Path) -> Corpus | None:
    """All answers in one store; None where the path holds no question."""
    sections = [each for page in pages(path) for each in _sections(page)]
    turns: list[Turn] = []
    questions: list[Asked] = []
    for number, (chapter, heading, body) in enumerate(sections):
        if len(body) < 20:  # "Yes." is no answer that anybody could look for
            continue
        turns.append(Turn(id=f"a{number}", conversation=chapter, text=body))
        if heading.endswith(("?", "？")):
            questions.append(Asked(text=heading, category="answer", evidence=(f"a{number}",)))
    if not questions:
        return None
    name = f"FAQ {path.name.split('.')[0]}"
    return Corpus(
        name=name,
        stores=(Store(name=name, turns=tuple(turns), questions=tuple(questions)),),
        categories=CATEGORIES,
    )


def _sections(page: Path) -> Iterator[_Section]:
    raw = gzip.decompress(page.read_bytes()) if page.suffix == ".gz" else page.read_bytes()
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    for ends, read in _READERS:
        if page.name.endswith(ends):
            yield from read(page.name.split(".")[0], text)
            return


def _pod(page: str, text: str) -> Iterator[_Section]:
    for heading, body in _cut(_POD_HEADING, text):
        if heading[1] == "2":
            yield page, _joined(_code_out(heading[2])), _code_out(body).strip()


def _rst(page: str, text: str) -> Iterator[_Section]:
    for heading, body in _cut(_RST_HEADING, text):
        kept = [line for line in body.split("\n") if not line.startswith(".. ")]
        yield page, _roles_out(heading[1]).strip(), _roles_out("\n".join(kept)).strip()


def _plain(_page: str, text: str) -> Iterator[_Section]:
    for heading, body in _cut(_PLAIN_HEADING, text):
        yield f"chapter {heading[1]}", _joined(heading[3]), _unwrapped(body)


def _cut(headings: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each heading with what stands between it and the next."""
    found = list(headings.finditer(text))
    ends = [*(one.start() for one in found[1:]), len(text)]
    for one, end in zip(found, ends, strict=False):  # no heading, no end
        yield one, text[one.end() : end]


def _code_out(text: str) -> str:
    return _POD_CODE.sub(lambda code: code[1] or code[2] or "", _POD_INDEX.sub("", text))


def _roles_out(text: str) -> str:
    return _RST_ROLE.sub(lambda role: role[1] or role[2] or role[3] or "", text)


def _joined(lines: str) -> str:
    """Lines that a narrow page broke, as one: with no blank where Chinese goes on."""
    joined = ""
    for line in lines.split("\n"):
        tight = joined and line and _HAN.match(joined[-1]) and _HAN.match(line.strip()[:1])
        joined = f"{joined}{'' if tight or not joined else ' '}{line.strip()}"
    return joined.strip()


def _unwrapped(body: str) -> str:
    return "\n\n".join(_joined(paragraph) for paragraph in re.split(r"\n\s*\n", body.strip()) if paragraph.strip())


_READERS: tuple[tuple[tuple[str, ...], Callable[[str, str], Iterator[_Section]]], ...] = (
    ((".pod",), _pod),
    ((".rst", ".rst.txt"), _rst),
    ((".txt", ".txt.gz"), _plain),
)
