"""Forgetting: what is chosen goes with all that was made of it, from every file of the workspace, and is looked for.

pieces    pieces of a text by which a copy of it is known again
choice    what a person names, as entries, conversations and lines of notes
plan      what would go, for a person, and as a job
work      one job's parts, as each step needs them
rows      the entries, and what was derived of them or repeats them
tables    titles, labels and all other columns
pages     the pages of the archive
notes     MEMORY.md and memory/*.md, and the versions of all files
files     mirrors, the search's files, caches, logs and copies
scan      looks through every byte of the workspace
job       the steps in their order, journalled; the receipt
"""
