"""Finding what was said: BM25 over the analysed terms of entries, notes and pages."""

from memory.search.asking.query import Hit, Query, Results
from memory.search.asking.typed import parse_query
from memory.search.search import Search
from memory.search.showing.results import to_json
from memory.search.words.analyse import Terms, analyse

__all__ = ["Hit", "Query", "Results", "Search", "Terms", "analyse", "parse_query", "to_json"]
