"""What the ranking goes by, each by a name: a query may do without some of them, to see what each brings.

Weights are in the units of BM25. They were found on LoCoMo's first five conversations, a person's chats with strangers,
and Python's questions and answers, all at once; docs/benchmarks.md has what each brings on each.
"""

SIGNALS = (
    "neighbours",  # the turns before and after lend their words
    "talk",  # the run of turns that it stands in is a field of its own
    "kindred",  # words near in meaning to the question's, from a table
    "function-words",  # words that say little count a fifth
    "lengths",  # long passages are judged as documents, short turns as turns
    "speaker",  # whom the question names
    "dates",  # the days that it speaks of, and before or after what
    "when",  # it asks when: who answers says a time
    "number",  # it asks how many: who answers says a number
    "novelty",  # what only asks again, or only names the subject, is no answer
    "vectors",  # an embedder's cosine
    "vectors-beside",  # the cosines of the turns before and after
)
EMBEDDED = frozenset({"vectors", "vectors-beside"})
"""Those that only an embedder gives."""
