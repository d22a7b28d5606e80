"""Tool calls in plain text, for models and servers without tool calling: the prompt, and the parser of the answer."""
