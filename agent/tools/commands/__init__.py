"""Commands that a model runs: the tools, the processes, and the sandbox."""
