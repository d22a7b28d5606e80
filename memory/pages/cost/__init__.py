"""What a page costs a model, and whether it is worth drawing."""
