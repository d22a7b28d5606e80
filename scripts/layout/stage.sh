#!/usr/bin/env bash
# One stage of the move to the target layout: the modules, what the script cannot know, format and checks.
#   scripts/layout/stage.sh foundation|models|pages|hot|cold|archive|search|knowledge|memory|context|agent|tui
# PYTHON has libcst; .venv is the project's.
set -eu
PYTHON=${PYTHON:-python3} here=scripts/layout
case $1 in pages) prefix="memory/pages/ memory/zstd.py" ;; hot|cold|archive|search|knowledge) prefix="memory/$1/" ;; *) prefix="$1/" ;; esac
# shellcheck disable=SC2086
$PYTHON $here/move.py $prefix
case $1 in
foundation)
mkdir -p foundation/text/data && git mv memory/search/words/data/* foundation/text/data/
git ls-files memory/search/words
grep -rlE "memory/search/words/data" --include=*.md --include=*.toml --include=*.py . | grep -v .venv | xargs -r sed -i 's#memory/search/words/data#foundation/text/data#g'
echo '"""Text primitives that every package uses: words, stems, languages, folding, stop words, synonyms, similarity, tags."""' > foundation/text/__init__.py
echo '"""Dates and spans in words, English and Chinese."""' > foundation/text/dates/__init__.py
echo '"""What a text names, by rules: people, places, money, flights, addresses, files, versions."""' > foundation/text/entities/__init__.py
[ -f memory/search/words/__init__.py ] && git rm -qf memory/search/words/__init__.py
sed -i 's/files("memory.search.words")/files("foundation.text")/' foundation/text/folding.py tests/memory/search/words/test_analyse.py
sed -i 's/"postings", "dates", "words"\]/"postings"]/' pyproject.toml
;;
models)
echo '"""The chat model that answers: one port, a package for each provider, and what HTTP providers share."""' > models/chat/__init__.py
for p in "openai:Servers that speak OpenAI's chat completions." "anthropic:Anthropic's messages." "mlx:Models that run in this process, on MLX." "offline:What answers without a model: the words of memory, quoted."; do
  echo "\"\"\"${p#*:}\"\"\"" > models/chat/${p%%:*}/__init__.py; done
;;
pages)
for p in "pages:Text to page images and back, with no store: fonts, drawing, reading, and what a page costs a model." "pages/font:The glyphs of both cell sizes: built from their sources, loaded, told apart." "pages/render:Text to pixels: layout, cells, header lines, PNG." "pages/read:Pixels to text: by our own cells, by the nearest glyph, by OCR." "pages/read/nearest:Reading a page whose cells are no longer exact: each cell by the nearest glyph." "pages/read/grid:Finding the grid of cells in a picture: pitch, phase, origin." "pages/read/ocr:Reading a page with an OCR engine, by line on the grid or whole." "pages/cost:What a page costs a model, and whether it is worth drawing."; do
  echo "\"\"\"${p#*:}\"\"\"" > memory/${p%%:*}/__init__.py; done
git mv memory/archive/data memory/pages/data
git rm -qf memory/archive/read/grid_lines.py memory/archive/read/__init__.py 2>/dev/null || true
git ls-files memory/archive/read memory/archive/draw memory/archive/cost
grep -rlE "memory/archive/data" --include=*.md --include=*.toml --include=*.py --include=NOTICE . | grep -v .venv | xargs -r sed -i 's#memory/archive/data#memory/pages/data#g'
python3 - <<'P'
import pathlib
p=pathlib.Path("tests/foundation/files/test_only_way.py"); s=p.read_text()
l='    "memory/pages/font/sources.py read_bytes": "makes package data, run by a developer",\n'
p.write_text(s.replace(l+l,l))
p=pathlib.Path("pyproject.toml"); s=p.read_text()
a=s.index("# What reads a page needs no store"); b=s.index("[[tool.importlinter.contracts]]", a)
s=s[:a]+'''# What reads or draws a page needs no store: it can be taken out and used alone.
name = "Within memory, too"
type = "layers"
containers = ["memory"]
layers = ["archive", "pages", "zstd", "errors"]

[[tool.importlinter.contracts]]
# Packs and their index know nothing of how archives are kept and mended.
name = "Within the archive, too"
type = "layers"
containers = ["memory.archive"]
layers = ["vault", "mend", "keep", "index", "packs"]

'''+s[b:]
p.write_text(s)
P
sed -i '/^Floats = /d' memory/pages/read/nearest/image_model.py
;;
cold)
echo '"""Whether what is stored is what was written: hashes and seals of rows, checks, repair, salvage."""' > memory/cold/integrity/__init__.py
echo '"""Conversations as readable Markdown beside the store, and the way back from there."""' > memory/cold/mirrors/__init__.py
;;
archive)
echo '"""What the store knows of archives and pages: rows, facts, checks."""' > memory/archive/rows/__init__.py
echo '"""Archiving: entries and texts to pages in packs, each passage once."""' > memory/archive/write/__init__.py
echo '"""What happens to archives later: aging, deletion, moves, repacking."""' > memory/archive/lifecycle/__init__.py
echo '"""Checking archives and repairing them, from parity, kept texts, mirrors or pixels."""' > memory/archive/repair/__init__.py
sed -i 's/^layers = \["vault", "mend", "keep", "index", "packs"\]/layers = ["vault | open_storage", "repair", "lifecycle", "write", "rows", "packs"]/' pyproject.toml
;;
search)
echo '"""A question as the search takes it: words, syntax, filters, days."""' > memory/search/query/__init__.py
echo '"""The index of words: documents, postings in segments, and their upkeep."""' > memory/search/index/__init__.py
echo '"""Hits as they are shown: snippets, marks, what says the same, what contradicts."""' > memory/search/results/__init__.py
sed -i 's/^layers = \["search", "engine", "note_documents", "showing", "asking", "ranking", "vectors", "postings"\]/layers = ["operations", "search", "note_index", "results", "query", "ranking", "vectors", "index"]/' pyproject.toml
;;
context)
python3 - <<'P'
import pathlib
p=pathlib.Path("context/__init__.py"); s=p.read_text()
s=s.replace("""The face is loaded when it is first asked for, so that `context.report` and `context.compaction.compact` alone stay light.
""","""The face is loaded when it is first asked for, so that `context.report` and `context.compaction.compact` stay light
alone.
""")
p.write_text(s)
P
sed -i 's/context\.recall\.recall`/context.recall`/' docs/*.md
;;
agent)
python3 - <<'P'
import pathlib,re
p=pathlib.Path("agent/cli/commands.py"); s=p.read_text()
s=s.replace('"import": ("importing",','"import": ("import_",').replace('"export": ("exporting",','"export": ("export",')
p.write_text(s)
p=pathlib.Path("tests/tui/search/test_finding.py"); s=p.read_text()
s=s.replace("agent.seeking.","agent.services.live_search.")
p.write_text(s)
P
;;
tui)
python3 - <<'P'
import pathlib
p=pathlib.Path("tests/hostile/test_widgets.py"); s=p.read_text()
s=s.replace('''    "tui/dialogs/confirm.py compose": "name and summary are made visible when the screen is made",
    "tui/dialogs/confirm.py compose": "heading and rows are made visible when the screen is made",
''','''    "tui/dialogs/confirm.py compose": "names, summaries, headings and rows are made visible when the screens are made",
''')
s=s.replace('''("tui.widgets.transcript.segments", "pieces"), ("tui.app", "notify"),
''','''("tui.widgets.transcript.segments", "pieces"),
        ("tui.app", "notify"),
''')
p.write_text(s)
P
;;
esac
.venv/bin/ruff check -q --fix . || true
.venv/bin/ruff format -q .
.venv/bin/ruff check . --output-format concise
.venv/bin/python -m basedpyright --pythonpath .venv/bin/python
.venv/bin/lint-imports
