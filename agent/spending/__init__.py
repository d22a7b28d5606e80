"""Spending: what models may still cost, and what they have cost."""
