"""The options of a search, each stated once: name, type, default, description. Every face derives its form from them:

palimpsest search --kind page -k 5      the command line
/search --kind page                     the chat
kind:page boiler                        the search screen and `/search`
{"query": "boiler", "kind": "page"}     a line of a batch
Search.query(parse_query(…))            memory.search.query.parse, which checks the values
"""

from types import UnionType
from typing import Annotated, Any, Final, get_args, get_origin

from msgspec import Meta, Struct
from msgspec.structs import fields

_NARROWS: Final = {"narrows": True}
_KINDS: Final = (
    "message, tool_result, summary, observation, page, memory (notes), knowledge "
    "(added files), prompt (your messages), or conversation (one result per conversation)."
)
_ENTITY: Final = (
    "Entity in the text, by type (flight, date, money, person, place, url, file, version), by name, or as type:name."
)
_AROUND: Final = "Entries around a time or an id, or in the conversation of the `best` match of QUERY, oldest first."


class SearchOptions(
    Struct,
    frozen=True,
    kw_only=True,
    rename={
        "kinds": "kind",
        "types": "type",
        "concepts": "concept",
        "files": "file",
        "entities": "entity",
        "limit": "k",
    },
):
    """What a person or a program may ask of a search beside the words, as it is typed; in the order of the help.

    `extra` of a field: `narrows` where it is a filter, `aliases` for `alias:value`, and the `metavar` of the help.
    """

    kinds: Annotated[tuple[str, ...], Meta(description=_KINDS, extra=_NARROWS)] = ()
    role: Annotated[str | None, Meta(description="user, assistant, system or tool.", extra=_NARROWS)] = None
    speaker: Annotated[str | None, Meta(description="Speaker.", extra={**_NARROWS, "aliases": ("who",)})] = None
    since: Annotated[
        str | None,
        Meta(
            description="Earliest day: 2026-03-01, 30d, yesterday.",
            extra={**_NARROWS, "aliases": ("after",), "metavar": "DATE"},
        ),
    ] = None
    until: Annotated[
        str | None,
        Meta(
            description="Latest day (inclusive).",
            extra={**_NARROWS, "aliases": ("before",), "metavar": "DATE"},
        ),
    ] = None
    around: Annotated[str | None, Meta(description=_AROUND, extra={**_NARROWS, "metavar": "D|ID"})] = None
    before: Annotated[int, Meta(description="With --around: how many before.", extra={"metavar": "N"})] = 5
    after: Annotated[int, Meta(description="With --around: how many after.", extra={"metavar": "N"})] = 5
    recent: Annotated[
        bool,
        Meta(description="Latest entries of the latest conversations; with QUERY, search only those.", extra=_NARROWS),
    ] = False
    types: Annotated[
        tuple[str, ...],
        Meta(description="decision, bugfix, feature, refactor, discovery, change.", extra=_NARROWS),
    ] = ()
    concepts: Annotated[
        tuple[str, ...], Meta(description="gotcha, pattern, trade-off, how-it-works and so on.", extra=_NARROWS)
    ] = ()
    files: Annotated[
        tuple[str, ...], Meta(description="Entries that mention a file, by its path or the end of it.", extra=_NARROWS)
    ] = ()
    entities: Annotated[tuple[str, ...], Meta(description=_ENTITY, extra=_NARROWS)] = ()
    conversation: Annotated[
        str | None,
        Meta(
            description="Only in one conversation: its id, title, or part of the title.",
            extra={**_NARROWS, "aliases": ("in",), "metavar": "ID"},
        ),
    ] = None
    label: Annotated[
        str | None, Meta(description="Only entries with this label, or archived under it.", extra=_NARROWS)
    ] = None
    scope: Annotated[
        str | None,
        Meta(
            description="Only conversations of this scope, or `all`; default: the scope of the open conversation.",
            extra={**_NARROWS, "metavar": "NAME"},
        ),
    ] = None
    trust: Annotated[str | None, Meta(description="exact, verified or approximate.", extra=_NARROWS)] = None
    exact: Annotated[bool, Meta(description="Each word must occur in the passage itself.")] = False
    newest: Annotated[bool, Meta(description="Sort by date, newest first.")] = False
    threshold: Annotated[float, Meta(description="Minimum score, from 0 to 1.")] = 0.0
    limit: Annotated[int, Meta(description="Maximum number of results.")] = 10
    page: Annotated[int, Meta(description="Page of results.")] = 1
    explain: Annotated[bool, Meta(description="Explain each score.")] = False


class SearchOption(Struct, frozen=True, kw_only=True):
    """One option: its `field` in SearchOptions, the `name` that is typed, and its type: str, int, float or bool.

    A repeatable one may be given several times: any of its values will do. `keys` may stand before a colon.
    """

    field: str
    name: str
    type: type
    description: str
    default: Any
    repeatable: bool = False
    narrows: bool = False
    metavar: str | None = None
    keys: tuple[str, ...] = ()


def _all_options() -> tuple[SearchOption, ...]:
    found: list[SearchOption] = []
    for info in fields(SearchOptions):
        base, meta = get_args(info.type)
        extra: dict[str, Any] = meta.extra or {}
        repeatable = get_origin(base) is tuple
        value = str if repeatable or isinstance(base, UnionType) else base
        narrows = bool(extra.get("narrows"))
        found.append(
            SearchOption(
                field=info.name,
                name=info.encode_name,
                type=value,
                description=meta.description or "",
                default=info.default,
                repeatable=repeatable,
                narrows=narrows,
                metavar=extra.get("metavar"),
                keys=(info.encode_name, *extra.get("aliases", ())) if narrows and value is str else (),
            )
        )
    return tuple(found)


OPTIONS: Final = _all_options()
"""All of them, in the order of the help."""
