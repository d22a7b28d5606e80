"""What turns a text into a vector: servers, onnx, mlx, behind one port. Nothing is loaded before the first text."""
