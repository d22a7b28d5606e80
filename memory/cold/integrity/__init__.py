"""Whether what is stored is what was written: hashes and seals of rows, checks, repair, salvage."""
