"""Embedders of text: servers, onnx, mlx, behind one port. Nothing is loaded before the first text."""
