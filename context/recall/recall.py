"""Recall of passages relevant to a message, about 200 tokens each, within a share of the budget."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.tokens import MessageCounter, fit_lines
from context.recall.citations import CitablePassage, cited_parts
from context.recall.guide import dates_in
from context.recall.held import without_held
from context.recall.need import asks, message_features, passage_likelihood, recall_likelihood, says_nothing
from context.settings import ContextSettings
from foundation.clock import iso
from foundation.privacy import TextSource, clear
from foundation.text.analysis import term_list, tokens
from foundation.text.folding import is_unspaced
from foundation.text.repeats import without_repeats
from foundation.text.sentences import sentences
from foundation.text.similarity import Shingles, alike, shingles
from foundation.trust import Citation, Trust
from memory.origin import Origin
from memory.search import Hit, Query, SearchResults
from memory.search.results.evidence import is_evidence
from models.chat.text_tools.candidate import is_written_call
from models.fence import SAMPLE_NONCE
from models.messages import Role
from models.recalled import RecalledSpan, passage_lines, recalled_block, shared_label

SHORT_MESSAGE = 6  # words: a shorter message is searched for with the previous one
SHOWN_ALREADY = 0.8  # of a passage's shingles, however short it is: the passage is in view
FREE_TOKENS = 600  # within which a passage of LEAST_SHARE of the best score is recalled; from there on of WORTHWHILE
LEAST_SHARE, WORTHWHILE = 0.2, 0.54
LEAST_A_TOKEN = 0.00006  # of likelihood: a passage of 50 tokens that is less likely than 0.3 % to serve is not recalled
LEAST_LIKELY = 0.01  # of serving the message, for each passage beside the first, however short
ECHO = 0.5  # of its score, for what a tool gave in another conversation
SHORTEST_COUNTED = 10  # tokens: a shorter passage needs what one of so many does
FEW_HITS = 5  # so few passages cost little: the threshold falls in proportion
LEAST_FOR_A_QUESTION = 300  # tokens, however much earlier messages recalled
CHARACTERS_A_TOKEN, LABEL_CHARACTERS = 4, 120  # of a passage in view, about
SHORTEST = 25  # tokens of a short turn with its share of the label; bounds the number of hits
_MOST_OF_PREVIOUS = 40  # words of the previous message added to a short one
SPARE = 20  # extra hits, in place of hits that are already in view
SHORTEST_CONTAINED = 25  # characters: a shorter snippet is too common to be a duplicate
LENGTH = 0.2  # exponent: value = score / tokens ** LENGTH; best at 0.15 to 0.3 on two kinds of conversations
MOST_BEFORE = 3  # sentences that are kept before the one that matches best, where a passage is too long
CLOSE = 0.03  # of the best score: hits within one such step of each other are ranked newest first


def on_branch(_: Collection[int]) -> frozenset[int]:
    """None of the entries is off its conversation's branch."""
    return frozenset()


class RecallRequest(Struct, frozen=True):
    """Inputs of recall: the message, the previous one, and the sources already in view.

    `off_branch` gives those of some entries that are on a branch which their conversation left.
    """

    text: str
    before: str = ""
    entries: frozenset[int] = frozenset()
    notes: frozenset[str] = frozenset()
    shown: tuple[tuple[str, str], ...] = ()  # recalled passages still in view: reference, text
    cited: tuple[CitablePassage, ...] = ()  # passages cited in the message; `text` does not contain the citations
    off_branch: Callable[[Collection[int]], frozenset[int]] = on_branch
    summaries: tuple[str, ...] = ()  # texts of those in view
    own: tuple[str, ...] = ()  # the person's messages in view
    conversation: str = ""


class RecallLimits(Struct, frozen=True):
    """Maximum tokens in total, tokens of a passage, number of passages, and tokens of cited passages (may be more).

    `threshold` is the likelihood that memory serves the message (context/recall/need.py) from which on anything is
    recalled; `all_that_fit`: passages are recalled as long as there is room, however little each adds.
    """

    tokens: int
    passage: int
    most: int
    cited: int = 0
    threshold: float = 0.0
    all_that_fit: bool = False


def limits_of(settings: ContextSettings, total: int) -> RecallLimits:
    """Limits for a request of `total` tokens."""
    share = int(total * settings.recall_share)
    tokens = min(share, settings.recall_tokens) if settings.recall_tokens else share
    return RecallLimits(tokens, settings.recall_passage, settings.recall_most, share, settings.recall_threshold)


def beside_earlier(limits: RecallLimits, text: str, earlier: Sequence[RecalledSpan], together: int) -> RecallLimits:
    """The limits beside the passages that earlier messages in view recalled: `together` tokens for all of them.

    They are sent again with each request of the epoch, so that in a small window a talk in which each message recalls
    is compacted every few turns. A message that asks gets LEAST_FOR_A_QUESTION all the same.
    """
    taken = sum(len(span.text) + LABEL_CHARACTERS for span in earlier) // CHARACTERS_A_TOKEN
    least = LEAST_FOR_A_QUESTION if asks(text) else 0
    return replace(limits, tokens=min(limits.tokens, max(least, together - taken)))


def search_text(text: str, before: str) -> str:
    """Query text: the message, with the user's previous one where it is short."""
    if not before or _length(text) >= SHORT_MESSAGE:
        return text
    return f"{text}\n{' '.join(tokens(before)[:_MOST_OF_PREVIOUS])}"


def _length(text: str) -> float:
    """Words of a message; two characters of a script without spaces count as one."""
    return sum(len(token) / 2 if is_unspaced(token) else 1 for token in tokens(text))


def query_for(text: str, before: str, limits: RecallLimits, exclude: frozenset[int] = frozenset()) -> Query | None:
    """Query for a message; None for an empty message or budget.

    Its limit exceeds the number of passages that fit: some hits are in view, some too long.
    """
    if not text.strip() or limits.most == 0 or limits.tokens <= 0:
        return None
    limit = min(limits.most, limits.tokens // SHORTEST) + SPARE
    query_text = search_text(text, before)
    return Query(text=query_text, limit=limit, exclude=exclude, window_tokens=limits.passage, as_it_stands=True)


def recall_passages(
    search: Callable[[Query], SearchResults], request: RecallRequest, limits: RecallLimits, counting: MessageCounter
) -> tuple[RecalledSpan, ...]:
    """Searches and returns the passages that fit: cited passages first, then hits by relevance.

    Passages of one day of a conversation share a label, at the rank of the best of them, in chronological order.
    """
    query = query_for(request.text, request.before, limits, request.entries)
    return fit_passages(search(query) if query else None, request, limits, counting)


def fit_passages(
    results: SearchResults | None, request: RecallRequest, limits: RecallLimits, counting: MessageCounter
) -> tuple[RecalledSpan, ...]:
    """Selects the passages that fit from the results of a search. `results` is None where there was no query."""
    cited = cited_parts(request.cited, max(limits.cited, limits.tokens), counting)
    candidates = [hit for hit in results.hits if not _tells_nothing(hit, request)] if results else []
    served = _served(request, replace(results, hits=tuple(candidates)), limits.threshold) if results else 0.0
    if not served:
        candidates = []
    hits = [hit for hit in candidates if not _in_view(hit, request) and not _is_cited(hit, cited)]
    hits = without_held(_echoes_last(hits, request), request.summaries, request.own)
    by_id = {hit.id: hit for hit in candidates}
    backed = [hit for hit in candidates if not hit.unverified] or candidates
    best = max((hit.score for hit in backed), default=0.0)  # those in view included: they may say it all
    likelihood = results.likelihood if results else 0.0
    parts = [
        _part(
            hit,
            rank,
            by_id,
            limits,
            counting,
            served * passage_likelihood(rank, min(hit.score / best, 1.0) if best else 1.0, likelihood),
        )
        for rank, hit in enumerate(_ranked(hits), len(cited))
    ]
    chosen = _fit_by_value([(part, seq) for part, seq in parts if part.text.strip()], cited, limits, counting, best)
    off_branch = request.off_branch([seq for _, seq in chosen if seq])
    is_dated = results is not None and results.is_dated
    chosen = [(replace(part, off_branch=seq in off_branch, is_dated=is_dated), seq) for part, seq in chosen]
    bare = [(replace(part, dates=()), seq) for part, seq in chosen]
    while chosen and counting.text(recalled_block((*cited, *_grouped_by_label(bare[: len(chosen)])))) > limits.tokens:
        chosen.pop()
    return (*cited, *_grouped_by_label(chosen))


def _served(request: RecallRequest, results: SearchResults, threshold: float) -> float:
    """Likelihood that memory serves the message, 0 where it is below the threshold; 1 where there is no threshold. A
    short message is judged with the previous one."""
    if threshold <= 0:
        return 1.0
    if not message_features(request.text):
        return 0.0
    share = max(min(1.0, results.total / FEW_HITS), _least_share(message_features(request.text)))
    likelihood = recall_likelihood(search_text(request.text, request.before), results)
    return likelihood if likelihood >= threshold * share else 0.0


def _least_share(features: Mapping[str, float]) -> float:
    """Least share of the threshold where few passages are found: all for a task, a part for what anybody knows."""
    return 1.0 if features["instruction"] or features["code"] else 0.4 * features["general"]


def _in_view(hit: Hit, request: RecallRequest) -> bool:
    if hit.entry in request.entries or (hit.note is not None and hit.note in request.notes):
        return True
    shown_texts = [text for ref, text in request.shown if ref == hit.citation.ref]
    return bool(shown_texts) and any(_contains(shingles(hit.snippet), shingles(text)) for text in shown_texts)


def _tells_nothing(hit: Hit, request: RecallRequest) -> bool:
    """Whether it is an earlier copy of the message, no evidence, or courtesy in a talk with a model."""
    asked = frozenset(term_list(search_text(request.text, request.before)))
    if _repeats_message(hit, request.text) or not is_evidence(hit, asked):
        return True
    if hit.origin is Origin.ASSISTANT:
        return is_written_call(hit.snippet) or says_nothing(hit.snippet, by_model=True)
    is_of_user = hit.role == Role.USER.value and not hit.speaker and bool(hit.snippet.strip())
    return is_of_user and says_nothing(hit.snippet, by_model=False)


def _echoes_last(hits: Sequence[Hit], request: RecallRequest) -> list[Hit]:
    """Lowers the scores of what tools gave in other conversations; drops it where the message is a task."""
    is_task = bool(message_features(request.text).get("instruction"))
    echoes = {hit.id for hit in hits if hit.origin is Origin.TOOL and hit.conversation != request.conversation}
    lowered = [replace(hit, score=hit.score * ECHO) if hit.id in echoes else hit for hit in hits]
    return [hit for hit in lowered if not (is_task and hit.id in echoes)]


def _is_cited(hit: Hit, cited: Sequence[RecalledSpan]) -> bool:
    """Whether a cited passage contains the hit."""
    if not cited:
        return False
    snippet, location = " ".join(clear(hit.snippet, TextSource.OTHER).split()), (hit.citation.ref, hit.citation.lines)
    return any(
        location == (part.citation.ref, part.citation.lines)
        or hit.entry_id == part.citation.ref
        or (len(snippet) >= SHORTEST_CONTAINED and snippet in " ".join(part.text.split()))
        for part in cited
    )


def _repeats_message(hit: Hit, text: str) -> bool:
    """Whether the hit only repeats the message."""
    hit_shingles, message_shingles = shingles(hit.snippet), shingles(text)
    return len(hit_shingles) <= 1.25 * len(message_shingles) and _contains(hit_shingles, message_shingles)


def _ranked(hits: Sequence[Hit]) -> list[Hit]:
    """By score, newest first where scores are close; what supersedes another hit has at least its score. Unverified
    answers come last."""
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    before = {hit.superseded_by: hit.score for hit in sorted(hits, key=lambda hit: hit.score)}
    scores = {hit.id: max(hit.score, before.get(hit.id, 0.0)) for hit in hits}
    return sorted(
        hits,
        key=lambda hit: (
            hit.unverified,
            int((best - scores[hit.id]) / best / CLOSE),
            -(hit.time.timestamp() if hit.time else 0.0),
        ),
    )


def _contains(first: Shingles, second: Shingles) -> bool:
    """Whether one text contains the other, however short. (Of two short hits, both may be shown.)"""
    return alike(first, second, within=SHOWN_ALREADY, shortest=1)


def _part(  # noqa: PLR0917 — all are needed
    hit: Hit, rank: int, by_id: Mapping[str, Hit], limits: RecallLimits, counting: MessageCounter, likelihood: float
) -> tuple[RecalledSpan, int]:
    """The passage, and its entry's seq."""
    text = _fitted(hit, limits.passage * 2, counting)
    successor = by_id.get(hit.superseded_by)
    superseded = iso(successor.time)[:10] if successor and successor.time else ""
    return RecalledSpan(
        text,
        hit.citation,
        hit.trust,
        hit.score,
        hit.time,
        rank,
        superseded=superseded,
        nonce=SAMPLE_NONCE,
        likelihood=round(likelihood, 4),
        dates=dates_in(
            text,
            hit.citation,
            hit.role,
            is_sure=hit.unverified or hit.trust is not Trust.APPROXIMATE,
        ),
        unverified=hit.unverified,
    ), hit.entry or 0


def _fitted(hit: Hit, limit: int, counting: MessageCounter) -> str:
    """The passage where it fits, with its further parts where they do; else the sentence that matches best, with what
    fits before and behind it."""
    once = without_repeats if hit.role == Role.ASSISTANT else str
    whole = hit.snippet
    text, omitted = fit_lines(clear(once(whole.strip()), TextSource.OTHER), limit, counting, "…")
    if not omitted:
        excerpts = clear(once(hit.excerpts.strip()), TextSource.OTHER) if hit.further else text
        return excerpts if counting.text(excerpts) <= limit else text
    parts = list(sentences(whole))
    words = [
        {whole[start:end].casefold() for start, end in hit.marks if part.start <= start < part.end} for part in parts
    ]
    best = max(range(len(parts)), key=lambda number: (len(words[number]), -number))
    for first in range(max(best - MOST_BEFORE, 0), best + 1):
        rest = clear(whole[parts[first].start :].strip(), TextSource.OTHER)
        cut, _ = fit_lines(rest, limit, counting, "…")
        if clear(parts[best].text, TextSource.OTHER) in cut:
            return f"… {cut}" if first else cut
    return text


_PassageWithSeq = tuple[RecalledSpan, int]


class _Cost(Struct, frozen=True):
    """Cost of a passage with its own label and under an existing one: tokens and value per token of both."""

    passage: _PassageWithSeq
    key: tuple[str, ...]
    tokens: tuple[int, int]
    value: tuple[float, float]

    @classmethod
    def of(cls, passage: _PassageWithSeq, counting: MessageCounter) -> Self:
        part = replace(passage[0], dates=())  # as the guide, dates take nothing of the share
        tokens = tuple(counting.text("\n" + passage_lines(part, before)) for before in (None, part))
        alone, grouped = (part.score / max(count, 1) ** LENGTH for count in tokens)
        return cls(passage, shared_label(part), (tokens[0], tokens[1]), (alone, grouped))


def _fit_by_value(
    parts: Sequence[_PassageWithSeq],
    cited: tuple[RecalledSpan, ...],
    limits: RecallLimits,
    counting: MessageCounter,
    best_score: float,
) -> list[_PassageWithSeq]:
    """The passages that fit beside the `cited` ones and are worth their tokens, by value per token.

    Within the first FREE_TOKENS a passage needs LEAST_SHARE of the best score, after them WORTHWHILE of it, and each is
    as likely to serve as LEAST_A_TOKEN says. A label is counted once; of two equally relevant passages the shorter is
    preferred.
    """
    chosen: list[_PassageWithSeq] = []
    labels: dict[tuple[str, ...], RecalledSpan] = {}
    frame = (RecalledSpan("", Citation(kind="", ref=""), Trust.EXACT, nonce=SAMPLE_NONCE),)
    room = limits.tokens - counting.text(recalled_block(cited or frame))
    remaining = [_Cost.of(part, counting) for part in parts]
    while remaining and len(chosen) < limits.most:
        best = max(remaining, key=lambda cost: (not cost.passage[0].unverified, cost.value[cost.key in labels]))
        remaining.remove(best)
        tokens = best.tokens[best.key in labels]
        share = LEAST_SHARE if limits.tokens - room < FREE_TOKENS else WORTHWHILE
        if tokens > room or (
            not limits.all_that_fit
            and not _is_worth(best.passage[0], tokens, share * best_score, LEAST_LIKELY if chosen else 0.0)
        ):
            continue
        room -= tokens
        labels.setdefault(best.key, best.passage[0])
        chosen.append(best.passage)
    return chosen


def _is_worth(part: RecalledSpan, tokens: int, least_score: float, least_likely: float) -> bool:
    least_likelihood = max(least_likely, LEAST_A_TOKEN * max(tokens, SHORTEST_COUNTED))
    return part.score >= least_score and part.likelihood >= least_likelihood


def _grouped_by_label(parts: Sequence[_PassageWithSeq]) -> tuple[RecalledSpan, ...]:
    """Groups the passages that share a label at the rank of the best, in chronological order."""
    groups: dict[tuple[str, ...], list[_PassageWithSeq]] = {}
    for part, seq in parts:
        groups.setdefault(shared_label(part), []).append((part, seq))
    arranged: list[RecalledSpan] = []
    for group in groups.values():
        run: list[RecalledSpan] = []
        last = 0
        for part, seq in sorted(group, key=lambda pair: (pair[1], pair[0].rank)):
            follows = bool(last) and seq == last + 1
            if not follows:
                arranged += _beside_the_best(run)
                run = []
            run.append(replace(part, follows=follows))
            last = seq
        arranged += _beside_the_best(run)
    return tuple(arranged)


def _beside_the_best(run: Sequence[RecalledSpan]) -> list[RecalledSpan]:
    """A run of successive turns; all but the most relevant name it as the one that they stand beside."""
    best = min(run, key=lambda part: part.rank, default=None)
    return [part if part is best or best is None else replace(part, beside=best.citation.ref) for part in run]
