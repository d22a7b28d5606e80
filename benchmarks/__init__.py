"""Benchmarks: each module prints a table, or takes `--json`. Trust in their workspaces goes to a folder of its own."""

import os
import tempfile

os.environ.setdefault("PALIMPSEST_CONFIG_DIR", tempfile.mkdtemp(prefix="palimpsest-benchmarks-"))
