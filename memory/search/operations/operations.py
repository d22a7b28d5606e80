"""The operations: the ten of a memory for assistants, and an exact and a semantic search beside them.

Each has a name, a sentence and a JSON Schema of what it takes, so that it can be offered to a model as it stands.
`call(search, "by_file", {"file": "http.py"})` checks what it is given and says what is wrong with it in a sentence.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from foundation.errors import Misuse
from memory.search.asking.query import BEST, CONVERSATION, PROMPT, Results
from memory.search.asking.typed import parse_query
from memory.search.operations import arguments as takes
from memory.search.search import Search

OBSERVATION = "observation"


class Operation(Struct, frozen=True):
    """`option` is how the command line asks for it."""

    name: str
    sentence: str
    takes: type[Struct]
    run: Callable[[Search, Any], Results]
    option: str

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return msgspec.json.schema(self.takes)


def call(search: Search, name: str, told: Mapping[str, Any]) -> Results | dict[str, Any]:
    """What the operation of that name gives; of `help`, what there is. Raises Misuse, and NotFound for what is not
    there."""
    operation = OPERATIONS.get(name)
    if operation is None:
        raise Misuse("Unknown operation", f"There is no operation “{name}”.", f"There are {', '.join(OPERATIONS)}.")
    try:
        given = msgspec.convert(told, operation.takes)
    except msgspec.ValidationError as error:
        known = ", ".join(operation.takes.__struct_fields__) or "nothing"
        raise Misuse("Wrong arguments", f"{name}: {error}.", f"It takes {known}.") from error
    return offered() if name == "help" else operation.run(search, given)


def offered() -> dict[str, Any]:
    """What can be asked: by name, a sentence and a schema."""
    return {
        name: {"sentence": each.sentence, "option": each.option, "schema": each.schema}
        for name, each in OPERATIONS.items()
    }


def observations(search: Search, given: takes.ForWords) -> Results:
    return _asked(search, given, kinds=[OBSERVATION])


def conversations(search: Search, given: takes.ForWords) -> Results:
    return _asked(search, given, kinds=[CONVERSATION])


def prompts(search: Search, given: takes.ForWords) -> Results:
    return _asked(search, given, kinds=[PROMPT])


def by_concept(search: Search, given: takes.ByConcept) -> Results:
    return _asked(search, given, concepts=[given.concept])


def by_file(search: Search, given: takes.ByFile) -> Results:
    return _asked(search, given, files=[given.file])


def by_type(search: Search, given: takes.ByType) -> Results:
    return _asked(search, given, types=[given.type])


def recent(search: Search, given: takes.Recent) -> Results:
    return search.query(parse_query(given.query, clock=search.clock, recent=True, limit=given.k))


def timeline(search: Search, given: takes.Timeline) -> Results:
    if given.around.strip().casefold() == BEST:
        raise Misuse("Around what?", "A timeline needs a moment or an id.", "timeline_of_best takes words.")
    return search.query(_around(search, "", given.around, given))


def timeline_of_best(search: Search, given: takes.TimelineOfBest) -> Results:
    return search.query(_around(search, given.query, BEST, given))


def exact(search: Search, given: takes.Exact) -> Results:
    """What is asked for must stand there, and the filters must fit."""
    by = given.filters
    named = [by.entity_type] if isinstance(by.entity_type, str) else by.entity_type
    since, until = (by.date_range.since, by.date_range.until) if by.date_range else ("", "")
    query = parse_query(
        given.query, clock=search.clock, exact=True, newest=given.newest, limit=given.k, page=given.page, role=by.role,
        speaker=by.speaker, conversation=by.conversation, since=since, until=until, types=_several(by.type),
        concepts=_several(by.concept), files=_several(by.file), entities=[each for each in named if each],
    )  # fmt: skip
    return search.query(query)


def semantic(search: Search, given: takes.Semantic) -> Results:
    return search.query(parse_query(given.query, clock=search.clock, limit=given.top_k, threshold=given.threshold))


def _nothing(_search: Search, _given: takes.Nothing) -> Results:
    return Results(query="")


def _asked(search: Search, given: takes.ForWords, **more: Any) -> Results:
    query = parse_query(
        given.query, clock=search.clock, limit=given.k, page=given.page, since=given.since, until=given.until,
        conversation=given.conversation, **more,
    )  # fmt: skip
    return search.query(query)


def _around(search: Search, text: str, around: str, given: takes.Timeline | takes.TimelineOfBest) -> Any:
    return parse_query(text, clock=search.clock, around=around, before=given.before, after=given.after)


def _several(said: str) -> tuple[str, ...]:
    return (said,) if said else ()


_ALL = (
    Operation("observations", "Search what was observed: structured notes of what was done and learned.",
              takes.ForWords, observations, "--kind observation"),
    Operation("conversations", "Find conversations, each by its best passage; their summaries are searched too.",
              takes.ForWords, conversations, "--kind conversation"),
    Operation("prompts", "Search what the person said themselves.", takes.ForWords, prompts, "--kind prompt"),
    Operation("by_concept", "What is marked with a concept: discovery, pattern, gotcha, trade-off and so on.",
              takes.ByConcept, by_concept, "--concept C"),
    Operation("by_file", "What names a file, or is about it.", takes.ByFile, by_file, "--file F"),
    Operation("by_type", "What is of a type: decision, bugfix, feature, refactor, discovery or change.",
              takes.ByType, by_type, "--type T"),
    Operation("recent", "The latest entries of the latest conversations, a conversation after the other.",
              takes.Recent, recent, "--recent"),
    Operation("timeline", "What was said before and after a moment, or before and after what was found.",
              takes.Timeline, timeline, "--around D|ID"),
    Operation("timeline_of_best", "What was said before and after the best hit of a query.",
              takes.TimelineOfBest, timeline_of_best, "--around best"),
    Operation("help", "What can be asked, and how.", takes.Nothing, _nothing, "--help"),
    Operation("exact", "Each word must stand in the passage itself; filters by time, entity, type, concept, file.",
              takes.Exact, exact, "--exact"),
    Operation("semantic", "What is meant: the best hits above a score, each with a snippet.",
              takes.Semantic, semantic, "--threshold X"),
)  # fmt: skip

OPERATIONS: dict[str, Operation] = {each.name: each for each in _ALL}
"""By name."""
