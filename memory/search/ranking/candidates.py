"""Which documents are worth scoring in full: the best by their own words, and their neighbours."""

from typing import NamedTuple

import numpy as np

from memory.search.column import Column
from memory.search.index.documents import NONE, Documents
from memory.search.ranking.fields import DocumentFilter, around, saturation
from memory.search.ranking.lookup import CorpusStatistics, TermPostings
from memory.search.ranking.question import Question

CANDIDATES = 400  # by their own words alone; their neighbours join them
_LARGE = 20_000  # documents
_RARE = 20  # in a large store a kindred word chooses documents only where less than one in so many holds it
_SPARE = 4  # times as many of a conversation are scored in full as are wanted of it
_AT_FIRST = 8  # times as many as are wanted are asked whether they may be found; all, where too few of these may


class CandidateFilter(NamedTuple):
    """Which documents may be found, which lend their words to those beside them, and how many of one conversation are
    wanted; 0 for any number."""

    be_found: DocumentFilter
    lend: DocumentFilter
    each: int = 0


def candidates(  # noqa: PLR0917 — all are needed
    documents: Documents,
    question: Question,
    looked: tuple[TermPostings, ...],
    corpus: CorpusStatistics,
    may: CandidateFilter,
    most: int,
) -> Column:
    """The best by their own words, and their neighbours (i4, in rising order)."""
    content = {term.term for term in question.content}
    plain = _plain(documents, [each for each in looked if each.term.term in content], question, corpus)
    matching = np.flatnonzero(plain > 0)
    wanted = max(CANDIDATES, most)
    if may.each:
        matching = matching[may.be_found(documents, matching)]
        matching = matching[_first_of_each(documents["conversation"][matching], plain[matching], _SPARE * may.each)]
        return with_neighbours(documents, matching[highest(plain[matching], wanted)], may)
    best = matching[highest(plain[matching], _AT_FIRST * wanted)]
    allowed = best[may.be_found(documents, best)]
    if len(allowed) < wanted and len(best) < len(matching):
        allowed = matching[may.be_found(documents, matching)]
    return with_neighbours(documents, allowed[highest(plain[allowed], wanted)], may)


def with_neighbours(documents: Documents, some: Column, may: CandidateFilter) -> Column:
    """These and the turns around them, as far as they may be found."""
    window = together(some, *around(documents, some))
    return window[may.be_found(documents, window)]


def together(*some: Column) -> Column:
    """All of these documents, each once (i4, in rising order). (`unique` of numpy hashes: ten times as long.)"""
    all_of_them = np.sort(np.concatenate(some))
    is_new = np.ones(len(all_of_them), bool)
    is_new[1:] = all_of_them[1:] != all_of_them[:-1]
    return all_of_them[is_new & (all_of_them != NONE)].astype("i4")


def _plain(documents: Documents, content: list[TermPostings], question: Question, corpus: CorpusStatistics) -> Column:
    """Each document's score by its own words (f4)."""
    plain = np.zeros(documents.count, "f4")
    for each in _telling(content, documents.count):
        near = [
            (posting, worth) for posting, worth in each.kin if _is_choosing(len(posting.documents), documents.count)
        ]
        for (where, counts), worth in [(each.posting, 1.0), *near]:
            held = counts.astype("f4") if worth == 1.0 else np.full(len(where), worth, "f4")
            plain[where] += each.idf * held / (held + _saturations(documents["length"][where], corpus, question))
    return plain


def _saturations(lengths: Column, corpus: CorpusStatistics, question: Question) -> Column:
    """The same as `saturation`, which of a long list is worked out once a length."""
    longest = int(lengths.max(initial=0))
    if longest >= len(lengths):
        return saturation(lengths, corpus, question)
    return saturation(np.arange(longest + 1), corpus, question)[lengths]


def _is_choosing(held: int, documents: int) -> bool:
    return documents <= _LARGE or held * _RARE < documents


def _telling(content: list[TermPostings], documents: int) -> list[TermPostings]:
    """In a large store the terms that less than a quarter of it holds, where there are such: the others (the name of
    who speaks, mostly) choose nobody, and their postings are long. All of them count in the full score."""
    rare = [each for each in content if 0 < len(each.posting.documents) < documents / 4 or each.kin]
    return rare if rare and documents > _LARGE else content


def _first_of_each(groups: Column, scores: Column, most: int) -> Column:
    """Where the highest of each group stand, so many of it, in rising order: no group crowds out the others."""
    order = np.lexsort((-scores, groups))
    sorted_groups = groups[order]
    starts = np.searchsorted(sorted_groups, sorted_groups)
    return np.sort(order[np.arange(len(order)) - starts < most])


def highest(scores: Column, most: int) -> Column:
    """Where the highest stand, `most` of them or some more. (`argpartition` is slow where many are equal.)"""
    if len(scores) <= most:
        return np.arange(len(scores))
    sample = np.sort(scores[:: max(1, len(scores) // 4096)])
    wanted = int(len(sample) * (1 - 2 * most / len(scores)))
    enough = np.flatnonzero(scores >= sample[max(wanted, 0)])
    if len(enough) < most:
        enough = np.arange(len(scores))
    return enough[np.argsort(-scores[enough], kind="stable")[:most]]
