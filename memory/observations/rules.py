"""The maker without a model: takes errors, exit codes, totals, changed files, names and decisions as they are written.

Each fact is a piece of its original. Nothing is said where a result tells nothing new: a listing, a repeated read, a
command that printed no total, a search that is shorter than its note. A failure and a success of one command are a
bugfix.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from memory.observations.observation import MAX_TITLE, Importance, Observation, clipped, fitted
from memory.observations.original import Known, Original
from memory.observations.talk_rules import observe_message, work_type
from memory.records import EntryKind
from models.tokens import estimate

RULES: Final = "rules"
MOST_READ: Final = 200_000  # characters of one output that are looked at, from its beginning and its end
MOST_NAMES: Final = 12
MOST_FACTS: Final = 6
MOST_FILES_FOUND: Final = 5  # of a search, with more of which nothing is said
COMMAND_CHARS: Final = 70
LONGEST_LINE: Final = 400  # characters of a line that is looked at

_EXIT: Final = re.compile(r"\[(exit (?P<code>\d+)|ended[^\]\n]*|stopped[^\]\n]*)[^\]\n]*\]\n?")
_ERROR: Final = re.compile(
    r"(?:[\w.]*(?:Error|Exception|Warning as error)\b.*|E {2,}\S.*|(?:FAIL|ERROR|FAILED|fatal|panic)\b.*"
    r"|.{0,200}?:\d+(?::\d+)?:? (?:fatal )?error\b.*|.{0,120}\berror(?:\[\w+\]|\s+TS\d+)?: .*"
    r"|.{0,120}: (?:No such file or directory|command not found|Permission denied).*|.*(?:错误|失败|异常)[::].*)"
)
_NO_ERROR: Final = re.compile(r"\b(?:0|no) (?:errors?|failures?)\b|\.\.\. ok$", re.IGNORECASE)
_TOTAL: Final = re.compile(
    r"(?:Ran \d+ tests? in .*|OK(?: \(.*\))?|FAILED \(.*\)|=+ .*\b(?:passed|failed|errors?)\b.*"
    r"|\d+ (?:passed|failed)\b.*|Tests?:? +\d+ .*|test result: .*|Found \d+ errors?.*|Success: no issues.*"
    r"|\d+ errors?, \d+ warnings?.*|BUILD (?:SUCCESS|SUCCESSFUL|FAIL\w*)\b.*"
    r"|\[[\w/.-]+(?: \([^)]*\))? [0-9a-f]{7,}\] .*|All checks passed!?|(?:Total|Coverage|TOTAL)\b.*\d.*)"
)
_WARNING: Final = re.compile(r".{0,200}\bwarning(?:\[[\w-]+\])?: .*", re.IGNORECASE)
_DEFINED: Final = re.compile(
    r"^\s*(?:(?:export|default|public|private|protected|static|async|pub(?:\([a-z]+\))?|abstract|final|unsafe)\s+)*"
    r"(?:def|class|func(?: \([^)\n]*\))?|fn|function|interface|struct|enum|trait|impl|type|module|const)\s+"
    r"([A-Za-z_$][\w$]+)\s*(?:[(:<{=;\[]|$|(?:extends|implements|for|where)\b)",
    re.MULTILINE,
)
_ABOUT: Final = re.compile(
    r"(?:#!.*\n|#.*coding.*\n|[ \t]*\n)*(?:[rbuRBU]?\"{3}|//+!?|/\*\*?|#+(?= ))\s*"
    r"([^\W\d_]+[ ,][^\n]{8,160}?)\.?(?:\"{3}|\*/)?\s*$",
    re.MULTILINE,
)
_HEADING: Final = re.compile(r"^#\s+(\S[^\n]{0,120}?)\s*#*$", re.MULTILINE)
_DECISION: Final = re.compile(
    r"^#{1,4}\s*(?:\d+[.)]?\s*)?(?:decisions?(?: outcome)?|outcome|resolution|what we decided|决定|决策|结论)"
    r"\s*:?\s*#*\n+([^\n#][^\n]{0,400})",
    re.IGNORECASE | re.MULTILINE,
)
_PATCHED: Final = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?)(\S.*?)\s*$", re.MULTILINE)
_PATH_PARTS: Final = re.compile(r"[/\\]")
_FOUND_LINE: Final = re.compile(r"\d+: ")
_PROSE: Final = frozenset(
    ("md", "txt", "rst", "json", "jsonl", "csv", "tsv", "log", "yaml", "yml", "toml", "html", "xml", "svg", "ini")
)
_SEARCHES: Final = re.compile(r"\s*(?:git\s+)?(?:grep|rg|diff|test|cmp|pgrep)\b")


class RulesMaker:
    """The default maker; milliseconds a result."""

    name = RULES

    def make(self, originals: Sequence[Original], known: Mapping[int, Known]) -> Mapping[int, Observation]:
        made: dict[int, Observation] = {}
        for original in originals:
            before = known.get(original.conversation) or Known()
            if observation := observe(original, before):
                made[original.seq] = observation
                before.add(observation)
        return made


def observe(original: Original, known: Known) -> Observation | None:
    """What is new in the original, beside what is known; None where nothing is."""
    if original.kind is EntryKind.MESSAGE:
        made = observe_message(original, known)
    else:
        rule = _BY_TOOL.get(original.tool)
        made = rule(original, known) if rule else None
    if made is None:
        return None
    made = fitted(made)
    is_longer = made.tokens >= made.original_tokens
    return None if is_longer and made.read else made


# ── commands ──


def _command(original: Original, known: Known) -> Observation | None:
    command = " ".join(str(original.arguments.get("command", "")).split())
    match = _EXIT.match(original.text)
    if not command or match is None:
        return None
    lines = [*_lines(original.text[match.end() :])]
    totals = [line for line in lines if _TOTAL.fullmatch(line)]
    program, _, rest = command.partition(" ")
    name = clipped(f"{_PATH_PARTS.split(program)[-1]} {rest}", COMMAND_CHARS)
    if match["code"] == "0" and not original.failed:
        return _succeeded(original, known, name, totals, lines)
    errors = [line for line in lines if _ERROR.fullmatch(line) and not _NO_ERROR.search(line)]
    if not errors and not totals and _SEARCHES.match(command):
        return None  # found nothing
    facts = [*dict.fromkeys([match[1], *errors[: MOST_FACTS - 2], *errors[-1:], *totals[-2:]])]
    if all(known.has(fact) for fact in facts) and known.failure_of(name):
        return None
    return Observation(
        type="discovery",
        title=f"{name}: {(errors or totals or [match[1]])[0]}",
        importance=Importance.CRITICAL,
        facts=tuple(facts),
        narrative=clipped(original.question, 200),
        concepts=("gotcha",),
        sources=original.sources(called=True, asked=True),
        original_tokens=estimate(original.text),
        subject=name,
    )


def _succeeded(
    original: Original, known: Known, name: str, totals: Sequence[str], lines: Sequence[str]
) -> Observation | None:
    """A command that passes: its totals and warnings; a bugfix where it failed before."""
    failure = known.failure_of(name)
    warnings = [line for line in lines if _WARNING.fullmatch(line)]
    facts = [*dict.fromkeys([*totals[-3:], *warnings[: MOST_FACTS - 3]])]
    if failure is None and (not facts or all(known.has(fact) for fact in facts)):
        return None
    result = totals[-1] if totals else warnings[0] if warnings else "exit 0"
    return Observation(
        type="bugfix" if failure else "discovery",
        title=f"{name}: {'passes now, ' if failure else ''}{result}",
        importance=Importance.INFORMATION,
        facts=tuple(facts),
        narrative=clipped(original.question, 200),
        concepts=("problem-solution",) if failure else ("gotcha",) if warnings else ("what-changed",),
        sources=(*original.sources(called=True, asked=True), *(failure.sources[:1] if failure else ())),
        original_tokens=estimate(original.text),
        subject=name,
    )


# ── files ──


def _read(original: Original, known: Known) -> Observation | None:
    path = str(original.arguments.get("path", "")).strip()
    if original.failed or not path:
        return None
    before = known.words_of(path)
    names = [name for name in _names(original.text, path) if not _is_word_of(name, before)]
    about = "" if before or original.arguments.get("offset") else _about(original.text, path)
    if decided := _decided(original.text, path):
        return _decision_record(original, known, path, decided)
    if not names and not about:
        return None
    listed = ", ".join(names[:MOST_NAMES])
    return Observation(
        type="discovery",
        title=f"{path} defines {listed}" if names else f"{path}: {about}",
        importance=Importance.INFORMATION,
        facts=tuple(filter(None, (f"defines {listed}" if names else "", about))),
        concepts=("how-it-works",),
        read=(path,),
        sources=original.sources(called=True),
        original_tokens=estimate(original.text),
        subject=path,
    )


def _decision_record(original: Original, known: Known, path: str, decided: Sequence[str]) -> Observation | None:
    """What a document says was decided, under the document's heading."""
    heading = _HEADING.search(original.text[:2_000])
    title = ": ".join((path, *((heading[1],) if heading else ()), decided[0]))  # who says so comes first
    if known.has(title):
        return None
    return Observation(
        type="decision",
        title=title,
        importance=Importance.DECISION,
        facts=tuple(decided[1 if len(title) <= MAX_TITLE else 0 : MOST_FACTS]),
        concepts=("why-it-exists",),
        read=(path,),
        sources=original.sources(called=True),
        original_tokens=estimate(original.text),
        subject=path,
    )


def _decided(text: str, path: str) -> list[str]:
    """The first line under each heading of a document that says that it is a decision."""
    if path.rpartition(".")[2].casefold() not in {"md", "rst", "txt"}:
        return []
    return [clipped(" ".join(match[1].split()), 200) for match in _DECISION.finditer(text[:MOST_READ])]


def _found(original: Original, known: Known) -> Observation | None:
    """A search that leads to a few files."""
    pattern = str(original.arguments.get("pattern", ""))
    heading, *lines = original.text.split("\n")
    files = [line for line in lines if line and not line.startswith("[") and not _FOUND_LINE.match(line)]
    if original.failed or not 0 < len(files) <= MOST_FILES_FOUND or not heading[:1].isdigit():
        return None
    title = f"“{clipped(pattern, 40)}” is in {', '.join(files)}"
    if known.has(title):
        return None
    return Observation(
        type="discovery",
        title=title,
        importance=Importance.INFORMATION,
        facts=tuple(line for line in lines if _FOUND_LINE.match(line))[:MOST_FACTS],
        read=tuple(files),
        concepts=("how-it-works",),
        sources=original.sources(called=True),
        original_tokens=estimate(original.text),
        subject=title,
    )


def _changed(original: Original, known: Known) -> Observation | None:
    arguments = original.arguments
    new = "\n".join(str(arguments.get(name, "")) for name in ("new", "content"))
    patch = "\n".join(str(value) for name, value in arguments.items() if name in {"patch", "input", "diff"})
    files = [*dict.fromkeys(filter(None, (str(arguments.get("path", "")).strip(), *_PATCHED.findall(patch))))]
    if original.failed or not files:
        return None
    added = "\n".join(line[1:] for line in patch.split("\n") if line.startswith("+") and not line.startswith("+++"))
    subject = ", ".join(files)
    before = known.words_of(subject)
    names = [name for name in _names(f"{new}\n{added}", files[0]) if not _is_word_of(name, before)]
    about = "" if before else _about(str(arguments.get("content", "")), files[0])
    facts = [about] if about else []
    facts += [f"defines {', '.join(names[:MOST_NAMES])}"] if names else []
    facts += [fact for fact in _replaced(arguments) if not known.has(fact)]
    if before and not facts:
        return None
    return Observation(
        type=work_type(original.question),
        title=": ".join(filter(None, (f"{subject} changed", about or ", ".join(names[:MOST_NAMES])))),
        importance=Importance.INFORMATION,
        facts=tuple(facts),
        narrative=clipped(original.question, 200),
        concepts=("what-changed",),
        changed=tuple(files),
        sources=original.sources(called=True, asked=True),
        original_tokens=estimate(original.whole),
        subject=subject,
    )


def _replaced(arguments: Mapping[str, object]) -> Iterator[str]:
    """The one line that an edit replaces, and what it is now."""
    old, new = (str(arguments.get(name, "")).strip() for name in ("old", "new"))
    if old and new and "\n" not in old + new and len(old) + len(new) < LONGEST_LINE // 2:
        yield f"{old} → {new}"


def _answered(original: Original, known: Known) -> Observation | None:
    """What the person chose."""
    question = str(original.arguments.get("question", ""))
    fact = f"{clipped(question, 140)} {clipped(original.text, 140)}"
    if original.failed or not question or known.has(fact):
        return None
    return Observation(
        type="decision",
        title=fact,
        importance=Importance.DECISION,
        concepts=("why-it-exists",),
        sources=original.sources(called=True),
        original_tokens=estimate(original.whole),
        subject=question,
    )


_BY_TOOL: Final[Mapping[str, Callable[[Original, Known], Observation | None]]] = {
    "run_command": _command,
    "read_file": _read,
    "search_files": _found,
    "write_file": _changed,
    "edit_file": _changed,
    "apply_patch": _changed,
    "ask_user": _answered,
}


def _about(text: str, path: str) -> str:
    """What the beginning of a file says that it is: a docstring, a comment, or the heading of a document."""
    match = _ABOUT.match(text[:2_000])
    is_comment = match is not None and match.group().lstrip().startswith("#") and not path.endswith(".md")
    return match[1] if match and not is_comment else ""


def _lines(text: str) -> Iterator[str]:
    """The lines that are looked at, without blanks around them and without those that are long."""
    if len(text) > MOST_READ:
        text = f"{text[: MOST_READ // 2]}\n{text[-MOST_READ // 2 :]}"
    for line in text.split("\n"):
        if (line := line.strip()) and len(line) <= LONGEST_LINE:
            yield line


def _names(text: str, path: str) -> list[str]:
    """The names that source code defines, those of tests and dunder methods last; none of prose and data."""
    if path.rpartition(".")[2].casefold() in _PROSE:
        return []
    names = dict.fromkeys(name for name in _DEFINED.findall(text[:MOST_READ]) if len(name) > 1)
    return sorted(names, key=lambda name: (name.startswith("__"), name.startswith("_"), name.startswith("test")))


def _is_word_of(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text) is not None
