"""A chat model without a language model: it quotes memory."""
