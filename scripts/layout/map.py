"""The map of CONTRIBUTING as the tree, once all has moved."""

import pathlib
p=pathlib.Path("CONTRIBUTING.md"); s=p.read_text()
a=s.index("## The map"); b=s.index("## How a change is made")
s=s[:a]+'''## The map

Imports go down only: `tui > agent > context > memory > models > foundation`, and inside memory
`knowledge > search > archive > hot | cold > pages`. `pyproject.toml` says why at each contract.

```
foundation/    errors, paths, clock, terminal, trust, yaml, regex
  files/         the one way to files: names below folder descriptors, no link followed
  privacy/       the one way to what is stored: secrets and private words are taken out here
  text/          words, stems, languages, folding, stop words, similarity, tags, entities/, dates/
models/        messages, tokens; chat/ (port, http, sse, a package a provider), ocr/, embed/
memory/        memory.py is the face
  pages/         text to pixels and back, with no store: font/ render/ read/ cost/
  hot/           MEMORY.md and memory/*.md, and a person's edits to them
  cold/          SQLite: entries as trees, one writer, migrations; integrity/ mirrors/
  archive/       vault.py; packs/ rows/ write/ lifecycle/ repair/
  search/        search.py; query/ index/ vectors/ ranking/ results/
  knowledge/     knowledge.py; readers/ ingest/ retrieve/ importance/
context/       what goes into a request: layers/ assembly/ recall/ pages/ compaction/
agent/         events.py, session.py, turn/, tools/, services/, background/, commands/, cli/, config/, headless/
tui/           app.py; a folder a screen: chat/ search/ recall/ dialogs/ images/ widgets/ themes/
agent_workspace/  the default workspace: data, not code
tests/         e2e/ drives the whole program, hostile/ attacks it
scripts/       shots.py pictures every screen, record_session.py records docs/first-session.md
benchmarks/    each prints a table and takes --json; docs/benchmarks.md has the figures
```

Begin reading at `agent/events.py` (what a turn says), `agent/turn/turn.py`, `context/context.py`, `memory/memory.py`.

'''+s[b:]
p.write_text(s)
