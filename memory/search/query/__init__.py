"""A question as the search takes it: words, syntax, filters, days."""
