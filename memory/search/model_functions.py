"""Search functions that can be offered to a model: ten of an assistant, an exact and a semantic search.

Each has a name, a sentence and a JSON Schema of its arguments, for a tool definition.
`call(search, "by_file", {"file": "http.py"})` validates the arguments; its errors are sentences.

Dates are as a person types them: `2026-03-01`, `30d`, `yesterday`.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from foundation.errors import Misuse
from memory.search.query.parse import parse_query
from memory.search.query.query import BEST, CONVERSATION, PROMPT, SearchResults
from memory.search.search import Search
from memory.search_options import SearchOptions

SearchText = Annotated[str, Meta(description='What to look for; "a phrase" in quotes, -word to leave out.')]
HitLimit = Annotated[int, Meta(ge=1, le=1000, description="How many hits.")]
PageNumber = Annotated[int, Meta(ge=1, le=1000, description="Which page of the hits.")]
Day = Annotated[str, Meta(description="A day, as 2026-03-01, 30d or yesterday; it is included.")]
NeighbourCount = Annotated[int, Meta(ge=0, le=200, description="How many entries.")]


class SearchArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments that several functions share."""

    k: HitLimit = 10
    page: PageNumber = 1
    since: Day = ""
    until: Day = ""
    conversation: Annotated[str, Meta(description="Within one conversation: its id or title.")] = ""


class TextArguments(SearchArguments, frozen=True, kw_only=True):
    """Search text; without it the newest entries are listed."""

    query: SearchText = ""


class ConceptArguments(TextArguments, frozen=True, kw_only=True):
    concept: Annotated[str, Meta(min_length=1, description="discovery, pattern, gotcha, trade-off and so on.")]


class FileArguments(TextArguments, frozen=True, kw_only=True):
    file: Annotated[str, Meta(min_length=1, description="A path or the end of one: http.py, src/http.py.")]


class TypeArguments(TextArguments, frozen=True, kw_only=True):
    type: Annotated[str, Meta(min_length=1, description="decision, bugfix, feature, refactor, discovery or change.")]


class RecentArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: SearchText = ""
    k: HitLimit = 12


class TimelineArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    around: Annotated[str, Meta(min_length=1, description="A moment (2026-03-01, 2w), or the id of what was found.")]
    before: NeighbourCount = 5
    after: NeighbourCount = 5


class BestTimelineArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, description="The timeline is around the best hit of these words.")]
    before: NeighbourCount = 5
    after: NeighbourCount = 5


class NoArguments(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class DateRange(Struct, frozen=True, array_like=True):
    since: str
    until: str


class FilterArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`entity_type` is a kind (flight) or a kind and a value (flight:CA1234). `date_range` is a first and a last date,
    or one that is a range itself: 2024, 2024-03, last March."""

    date_range: DateRange | str | None = None
    entity_type: str | list[str] = ""
    type: str = ""
    concept: str = ""
    file: str = ""
    role: str = ""
    speaker: str = ""
    conversation: str = ""


class ExactArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: SearchText = ""
    filters: FilterArguments = FilterArguments()
    newest: Annotated[bool, Meta(description="The newest first, and not the best.")] = False
    k: HitLimit = 10
    page: PageNumber = 1


class SemanticArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, description="What is meant, in any words.")]
    top_k: HitLimit = 5
    threshold: Annotated[float, Meta(ge=0, le=1, description="The least score.")] = 0.0


OBSERVATION = "observation"


class SearchFunction(Struct, frozen=True):
    """`takes` is the struct of its arguments, `option` the option of the command line."""

    name: str
    sentence: str
    takes: type[Struct]
    run: Callable[[Search, Any], SearchResults]
    option: str

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return msgspec.json.schema(self.takes)


def call(search: Search, name: str, arguments: Mapping[str, Any]) -> SearchResults | dict[str, Any]:
    """Runs the function of that name; `help` describes all of them. Raises Misuse, and NotFound for unknown ids."""
    function = SEARCH_FUNCTIONS.get(name)
    if function is None:
        raise Misuse(
            "Unknown function", f"There is no function “{name}”.", f"Available: {', '.join(SEARCH_FUNCTIONS)}."
        )
    try:
        checked = msgspec.convert(arguments, function.takes)
    except msgspec.ValidationError as error:
        known = ", ".join(function.takes.__struct_fields__) or "nothing"
        raise Misuse("Wrong arguments", f"{name}: {error}.", f"Arguments: {known}.") from error
    return describe_functions() if name == "help" else function.run(search, checked)


def describe_functions() -> dict[str, Any]:
    """Every function by name: its sentence, its option and its schema."""
    return {
        name: {"sentence": function.sentence, "option": function.option, "schema": function.schema}
        for name, function in SEARCH_FUNCTIONS.items()
    }


def observations(search: Search, given: TextArguments) -> SearchResults:
    return _search_text(search, given, kinds=(OBSERVATION,))


def conversations(search: Search, given: TextArguments) -> SearchResults:
    return _search_text(search, given, kinds=(CONVERSATION,))


def prompts(search: Search, given: TextArguments) -> SearchResults:
    return _search_text(search, given, kinds=(PROMPT,))


def by_concept(search: Search, given: ConceptArguments) -> SearchResults:
    return _search_text(search, given, concepts=(given.concept,))


def by_file(search: Search, given: FileArguments) -> SearchResults:
    return _search_text(search, given, files=(given.file,))


def by_type(search: Search, given: TypeArguments) -> SearchResults:
    return _search_text(search, given, types=(given.type,))


def recent(search: Search, given: RecentArguments) -> SearchResults:
    return search.query(parse_query(given.query, SearchOptions(recent=True, limit=given.k), clock=search.clock))


def timeline(search: Search, given: TimelineArguments) -> SearchResults:
    if given.around.strip().casefold() == BEST:
        raise Misuse("Around what?", "A timeline needs a moment or an id.", "timeline_of_best takes words.")
    return search.query(_around(search, "", given.around, given))


def timeline_of_best(search: Search, given: BestTimelineArguments) -> SearchResults:
    return search.query(_around(search, given.query, BEST, given))


def exact(search: Search, given: ExactArguments) -> SearchResults:
    """Entries that pass the filters, ranked by the query; without filters those that hold every term of it."""
    options = filter_options(given.filters, newest=given.newest, limit=given.k, page=given.page)
    query = parse_query(given.query, options, clock=search.clock)
    decided = given.filters != FilterArguments()
    return search.query(msgspec.structs.replace(query, exact=not decided, filters_decide=decided))


def filter_options(filters: FilterArguments, **more: Any) -> SearchOptions:
    """The options that the filters stand for, and more of them by their fields."""
    entity_types = [filters.entity_type] if isinstance(filters.entity_type, str) else filters.entity_type
    dates = filters.date_range or ""
    since, until = (dates, dates) if isinstance(dates, str) else (dates.since, dates.until)
    return SearchOptions(
        role=filters.role,
        speaker=filters.speaker,
        conversation=filters.conversation,
        since=since,
        until=until,
        types=_filter_values(filters.type),
        concepts=_filter_values(filters.concept),
        files=_filter_values(filters.file),
        entities=tuple(entity for entity in entity_types if entity),
        **more,
    )


def semantic(search: Search, given: SemanticArguments) -> SearchResults:
    options = SearchOptions(limit=given.top_k, threshold=given.threshold)
    return search.query(parse_query(given.query, options, clock=search.clock))


def _nothing(_search: Search, _given: NoArguments) -> SearchResults:
    return SearchResults(query="")


def _search_text(search: Search, given: TextArguments, **more: Any) -> SearchResults:
    options = SearchOptions(
        limit=given.k,
        page=given.page,
        since=given.since,
        until=given.until,
        conversation=given.conversation,
        **more,
    )
    return search.query(parse_query(given.query, options, clock=search.clock))


def _around(search: Search, text: str, around: str, given: TimelineArguments | BestTimelineArguments) -> Any:
    return parse_query(text, SearchOptions(around=around, before=given.before, after=given.after), clock=search.clock)


def _filter_values(value: str) -> tuple[str, ...]:
    return (value,) if value else ()


_ALL = (
    SearchFunction(
        "observations",
        "Search what was observed: structured notes of what was done and learned.",
        TextArguments,
        observations,
        "--kind observation",
    ),
    SearchFunction(
        "conversations",
        "Find conversations, each by its best passage; their summaries are searched too.",
        TextArguments,
        conversations,
        "--kind conversation",
    ),
    SearchFunction("prompts", "Search what the person said themselves.", TextArguments, prompts, "--kind prompt"),
    SearchFunction(
        "by_concept",
        "What is marked with a concept: discovery, pattern, gotcha, trade-off and so on.",
        ConceptArguments,
        by_concept,
        "--concept C",
    ),
    SearchFunction("by_file", "What names a file, or is about it.", FileArguments, by_file, "--file F"),
    SearchFunction(
        "by_type",
        "What is of a type: decision, bugfix, feature, refactor, discovery or change.",
        TypeArguments,
        by_type,
        "--type T",
    ),
    SearchFunction(
        "recent",
        "The latest entries of the latest conversations, a conversation after the other.",
        RecentArguments,
        recent,
        "--recent",
    ),
    SearchFunction(
        "timeline",
        "What was said before and after a moment, or before and after what was found.",
        TimelineArguments,
        timeline,
        "--around D|ID",
    ),
    SearchFunction(
        "timeline_of_best",
        "What was said before and after the best hit of a query.",
        BestTimelineArguments,
        timeline_of_best,
        "--around best",
    ),
    SearchFunction("help", "What can be asked, and how.", NoArguments, _nothing, "--help"),
    SearchFunction(
        "exact",
        "Each word must stand in the passage itself; filters by time, entity, type, concept, file.",
        ExactArguments,
        exact,
        "--exact",
    ),
    SearchFunction(
        "semantic",
        "What is meant: the best hits above a score, each with a snippet.",
        SemanticArguments,
        semantic,
        "--threshold X",
    ),
)

SEARCH_FUNCTIONS: dict[str, SearchFunction] = {function.name: function for function in _ALL}
"""By name."""
