"""Parts of `benchmarks.scale`: entries in any number, stores of them, and what is measured in a process of its own."""
