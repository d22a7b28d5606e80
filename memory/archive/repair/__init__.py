"""Checking archives and repairing them, from parity, kept texts, mirrors or pixels."""
