"""Search: BM25 over the analysed terms of entries, notes and pages, and vectors where an embedder is set."""

from foundation.text.analysis import PackedTerms, analyse
from memory.search.query.parse import parse_query
from memory.search.query.query import Hit, Query, SearchResults, to_json
from memory.search.search import Search

__all__ = ["Hit", "PackedTerms", "Query", "Search", "SearchResults", "analyse", "parse_query", "to_json"]
