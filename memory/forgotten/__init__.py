"""What was forgotten here, without a word of it.

fingerprints  words to be found in any bytes, without keeping the words
journal       what is to go, a file a job
tombstones    entries that are forgotten, by hashes: imports and sync ask before they bring one
bare_meta     the meta of an entry without a word
guard         keeps an open process from writing back what is forgotten
"""
