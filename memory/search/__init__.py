"""Finding what was said: BM25 over the analysed terms of entries, notes and pages."""

from memory.search.analyse import Terms, analyse

__all__ = ["Terms", "analyse"]
