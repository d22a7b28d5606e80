"""Forgetting: what is chosen goes with all that was made of it, from every file of the workspace, and is looked for.

pieces          pieces of a text by which a copy of it is known again
escapes         words behind the escapes of JSON
spellings       how a phrase is written where it was found
replacement     `[forgotten]` in the place of words
copies          copies of texts, and what only they hold
choice          what a person names, as entries, conversations and lines of notes
belongings      what belongs to it by its origin: names, texts beside archives
said_elsewhere  pieces that something which stays says by itself
lineage         entries that stay and of which something goes, with the reason
plan            what would go, for a person, and as a job
work            one job's parts, as each step needs them
later           what was written after it began, which stays
rows            the entries, and what was derived of them or repeats them
tables          titles, labels and all other columns
pages           the pages of the archive
notes           MEMORY.md and memory/*.md, and the versions of all files
files           mirrors, the search's files, caches, logs and copies
used_paths      paths of backups and locations, which stay
scan            looks through every byte of the workspace
job             the steps in their order, journalled; the receipt
foreign         what another device forgot
"""
