"""Text primitives that every package uses: words, stems, languages, folding, stop words, synonyms, similarity, tags."""
