"""Observations: structured notes of at most 500 tokens, made of tool results and messages, off the branch."""
