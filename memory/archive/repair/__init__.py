"""Checks and repairs of archives: from parity, sidecar texts, mirrors or pixels."""
