"""Finding what was said: BM25 over the analysed terms of entries, notes and pages."""

from memory.search.analyse import Terms, analyse
from memory.search.query import Hit, Query, Results, parse_query
from memory.search.results import to_json
from memory.search.search import Search

__all__ = ["Hit", "Query", "Results", "Search", "Terms", "analyse", "parse_query", "to_json"]
