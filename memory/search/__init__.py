"""Finding what was said: BM25 over the analysed terms of entries, notes and pages."""

from foundation.text.analysis import Terms, analyse
from memory.search.asking.query import Hit, Query, Results
from memory.search.asking.typed import parse_query
from memory.search.search import Search
from memory.search.showing.results import to_json

__all__ = ["Hit", "Query", "Results", "Search", "Terms", "analyse", "parse_query", "to_json"]
