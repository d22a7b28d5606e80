"""Dotted strings that name our modules must resolve; quoted paths must exist."""
import re, subprocess, importlib, sys
from pathlib import Path
sys.path.insert(0, ".")
PK = "foundation|models|memory|context|agent|tui"
bad = set()
def resolves(d):
    parts = d.split(".")
    for i in range(len(parts), 0, -1):
        base = Path(*parts[:i])
        if base.with_suffix(".py").exists() or base.is_dir():
            if i == len(parts): return True
            try: m = importlib.import_module(".".join(parts[:i]))
            except Exception as e: return False
            for p in parts[i:]:
                if not hasattr(m, p): return False
                m = getattr(m, p)
            return True
    return False
for f in subprocess.run(["git","ls-files"],capture_output=True,text=True).stdout.split():
    if not f.endswith((".py",".md",".toml")) or "docs/json" in f: continue
    t = Path(f).read_text("utf-8")
    for d in set(re.findall(rf'["\'`(]((?:{PK})\.[a-z_]+(?:\.\w+)*)["\'`)]', t)):
        if not resolves(d): bad.add((f, d))
    for p in set(re.findall(rf'(?<![\w/.])((?:{PK})/[\w/]+\.py)', t)):
        if not Path(p).exists(): bad.add((f, p))
    for p in set(re.findall(rf'(?<![\w/.])((?:{PK})/[\w/]+/?)(?=[`"\' ])', t)):
        if not Path(p).exists(): bad.add((f, p))
for b in sorted(bad): print(*b)
