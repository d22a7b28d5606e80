"""Candidate selection: the best documents by their own terms, and their neighbours, are scored in full."""

from typing import NamedTuple

import numpy as np

from memory.search.column import Column
from memory.search.index.documents import NONE, Documents
from memory.search.ranking.fields import DocumentFilter, around, saturation
from memory.search.ranking.lookup import CorpusStatistics, TermPostings
from memory.search.ranking.question import Question

CANDIDATES = 400  # by their own terms; their neighbours are added
_LARGE = 20_000  # documents
_RARE = 20  # in a large store a synonym selects documents only where less than one in so many holds it
_SPARE = 4  # times as many of a conversation are scored in full as the query wants of it
_FILTER_FIRST = 8  # times as many as are wanted are filtered; all, where too few of these pass


class CandidateFilter(NamedTuple):
    """Documents that may be found, documents whose terms count for their neighbours, and the number of documents wanted
    from one conversation; 0 for any number."""

    be_found: DocumentFilter
    lend: DocumentFilter
    each: int = 0


def candidates(  # noqa: PLR0917 — all are needed
    documents: Documents,
    question: Question,
    postings_by_term: tuple[TermPostings, ...],
    corpus: CorpusStatistics,
    may: CandidateFilter,
    most: int,
) -> Column:
    """The best documents by their own terms, and their neighbours (i4, ascending)."""
    content = {term.term for term in question.content}
    plain = _own_scores(
        documents, [postings for postings in postings_by_term if postings.term.term in content], question, corpus
    )
    matching = np.flatnonzero(plain > 0)
    wanted = max(CANDIDATES, most)
    if may.each:
        matching = matching[may.be_found(documents, matching)]
        matching = matching[_first_of_each(documents["conversation"][matching], plain[matching], _SPARE * may.each)]
        return with_neighbours(documents, matching[highest(plain[matching], wanted)], may)
    best = matching[highest(plain[matching], _FILTER_FIRST * wanted)]
    allowed = best[may.be_found(documents, best)]
    if len(allowed) < wanted and len(best) < len(matching):
        allowed = matching[may.be_found(documents, matching)]
    return with_neighbours(documents, allowed[highest(plain[allowed], wanted)], may)


def with_neighbours(documents: Documents, selected: Column, may: CandidateFilter) -> Column:
    """These documents and the turns around them, as far as they pass the filter."""
    window = union(selected, *around(documents, selected))
    return window[may.be_found(documents, window)]


def union(*columns: Column) -> Column:
    """Union of the documents (i4, ascending). (`unique` of numpy hashes: ten times as long.)"""
    sorted_documents = np.sort(np.concatenate(columns))
    is_new = np.ones(len(sorted_documents), bool)
    is_new[1:] = sorted_documents[1:] != sorted_documents[:-1]
    return sorted_documents[is_new & (sorted_documents != NONE)].astype("i4")


def _own_scores(
    documents: Documents, content: list[TermPostings], question: Question, corpus: CorpusStatistics
) -> Column:
    """Each document's score by its own terms (f4)."""
    plain = np.zeros(documents.count, "f4")
    for term_postings in _selective(content, documents.count):
        synonyms = [
            (posting, weight)
            for posting, weight in term_postings.synonyms
            if _is_selective(len(posting.documents), documents.count)
        ]
        for (documents_of, counts), weight in [(term_postings.posting, 1.0), *synonyms]:
            frequency = counts.astype("f4") if weight == 1.0 else np.full(len(documents_of), weight, "f4")
            plain[documents_of] += (
                term_postings.idf
                * frequency
                / (frequency + _saturations(documents["length"][documents_of], corpus, question))
            )
    return plain


def _saturations(lengths: Column, corpus: CorpusStatistics, question: Question) -> Column:
    """The same as `saturation`, computed once per length for a long list."""
    longest = int(lengths.max(initial=0))
    if longest >= len(lengths):
        return saturation(lengths, corpus, question)
    return saturation(np.arange(longest + 1), corpus, question)[lengths]


def _is_selective(held: int, documents: int) -> bool:
    return documents <= _LARGE or held * _RARE < documents


def _selective(content: list[TermPostings], documents: int) -> list[TermPostings]:
    """Selective terms: in a large store those that less than a quarter of it holds, where there are such. The others
    (mostly the speaker's name) select nothing, and their postings are long. All of them count in the full score."""
    rare = [
        postings for postings in content if 0 < len(postings.posting.documents) < documents / 4 or postings.synonyms
    ]
    return rare if rare and documents > _LARGE else content


def _first_of_each(groups: Column, scores: Column, most: int) -> Column:
    """Indices of the `most` highest scores of each group, ascending: no group crowds out the others."""
    order = np.lexsort((-scores, groups))
    sorted_groups = groups[order]
    starts = np.searchsorted(sorted_groups, sorted_groups)
    return np.sort(order[np.arange(len(order)) - starts < most])


def highest(scores: Column, most: int) -> Column:
    """Indices of the `most` highest scores. (`argpartition` is slow where many are equal.)"""
    if len(scores) <= most:
        return np.arange(len(scores))
    sample = np.sort(scores[:: max(1, len(scores) // 4096)])
    wanted = int(len(sample) * (1 - 2 * most / len(scores)))
    enough = np.flatnonzero(scores >= sample[max(wanted, 0)])
    if len(enough) < most:
        enough = np.arange(len(scores))
    return enough[np.argsort(-scores[enough], kind="stable")[:most]]
