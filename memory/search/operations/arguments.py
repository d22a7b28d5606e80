"""What each way to search takes. Dates are as they are typed: `2026-03-01`, `30d`, `yesterday`."""

from typing import Annotated

from msgspec import Meta, Struct

Words = Annotated[str, Meta(description='What to look for; "a phrase" in quotes, -word to leave out.')]
Most = Annotated[int, Meta(ge=1, le=1000, description="How many hits.")]
Page = Annotated[int, Meta(ge=1, le=1000, description="Which page of the hits.")]
Day = Annotated[str, Meta(description="A day, as 2026-03-01, 30d or yesterday; it is included.")]
Beside = Annotated[int, Meta(ge=0, le=200, description="How many entries.")]


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every way takes."""

    k: Most = 10
    page: Page = 1
    since: Day = ""
    until: Day = ""
    conversation: Annotated[str, Meta(description="Within one conversation: its id or title.")] = ""


class ForWords(Arguments, frozen=True, kw_only=True):
    """Words, or nothing: then the newest are listed."""

    query: Words = ""


class ByConcept(ForWords, frozen=True, kw_only=True):
    concept: Annotated[str, Meta(min_length=1, description="discovery, pattern, gotcha, trade-off and so on.")]


class ByFile(ForWords, frozen=True, kw_only=True):
    file: Annotated[str, Meta(min_length=1, description="A path or the end of one: http.py, src/http.py.")]


class ByType(ForWords, frozen=True, kw_only=True):
    type: Annotated[str, Meta(min_length=1, description="decision, bugfix, feature, refactor, discovery or change.")]


class Recent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Words = ""
    k: Most = 12


class Timeline(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    around: Annotated[str, Meta(min_length=1, description="A moment (2026-03-01, 2w), or the id of what was found.")]
    before: Beside = 5
    after: Beside = 5


class TimelineOfBest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, description="The timeline is around the best hit of these words.")]
    before: Beside = 5
    after: Beside = 5


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class DateRange(Struct, frozen=True, array_like=True):
    since: str
    until: str


class Exactly(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`entity_type` is a kind (flight) or a kind and a value (flight:CA1234)."""

    date_range: DateRange | None = None
    entity_type: str | list[str] = ""
    type: str = ""
    concept: str = ""
    file: str = ""
    role: str = ""
    speaker: str = ""
    conversation: str = ""


class Exact(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Words = ""
    filters: Exactly = Exactly()
    newest: Annotated[bool, Meta(description="The newest first, and not the best.")] = False
    k: Most = 10
    page: Page = 1


class Semantic(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, description="What is meant, in any words.")]
    top_k: Most = 5
    threshold: Annotated[float, Meta(ge=0, le=1, description="The least score.")] = 0.0
