"""Files of pages: packs, what stands beside them, and the places where they can stand."""
