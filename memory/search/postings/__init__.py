"""Where terms stand: columns of documents, postings, and their files. Derived from the store's rows."""
