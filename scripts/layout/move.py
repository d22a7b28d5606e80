"""Moves modules to their homes in the target layout and rewrites every import, string and path that names them.

    python scripts/layout/move.py PREFIX...     in a clean checkout, with libcst installed; PREFIX as `memory/pages/`

homes.tsv has a module's path and its home; modules with one home are merged (renames.tsv renames what would collide).
Where the new name of a module is bound in a file already, aliases.tsv says what it is imported as. Printed is what
wants a look: MERGE, COLLIDE, KEEP-AS (an import that keeps the old name), IMPORT, STR, PATH, __file__, EMPTY.
"""
import re, subprocess, sys, collections
from pathlib import Path
import libcst as cst
from libcst import matchers as m
from libcst.metadata import MetadataWrapper, ScopeProvider, Assignment, ImportAssignment, GlobalScope

HERE = Path(__file__).parent
TSV = [HERE / "homes.tsv"]
RENAMES = {}  # (old path, name) -> new name, for merges
for l in (HERE / "renames.tsv").read_text().splitlines() if (HERE / "renames.tsv").exists() else []:
    if l.strip():
        p, a, b = l.split("\t"); RENAMES[(p, a)] = b
prefixes = tuple(sys.argv[1:])
ALIASES = dict(l.split() for l in (HERE / "aliases.tsv").read_text().splitlines() if l.strip())

def git(*a): return subprocess.run(["git", *a], capture_output=True, text=True, check=True).stdout
def dotted(path): return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")

DONE = Path(git("rev-parse", "--git-dir").strip()) / "moved.txt"
done = set(DONE.read_text().split("\n")) if DONE.exists() else set()
table = {}
for t in TSV:
    for l in t.read_text().splitlines():
        if l.strip():
            a, b = l.split("\t"); table[a] = b
tracked = git("ls-files", "*.py").split()
trackedset = set(tracked)
moves = {a: b for a, b in table.items() if a != b and b.startswith(prefixes) and a in trackedset and a not in done and not b.startswith("(")}
stay = {a for a, b in table.items() if a == b and b.startswith(prefixes)}
groups = collections.defaultdict(list)
for a, b in moves.items(): groups[b].append(a)
for b in groups:
    if b in trackedset and b not in moves and (b in stay or b not in table):
        groups[b].insert(0, b)   # merged into a module that stays
S = {dotted(a): dotted(b) for a, b in moves.items()}
print(len(moves), "modules move to", len(groups))
if not moves: sys.exit()

def name_of(node):
    if node is None: return ""
    if isinstance(node, cst.Name): return node.value
    return name_of(node.value) + "." + node.attr.value
def to_node(d):
    parts = d.split("."); n = cst.Name(parts[0])
    for p in parts[1:]: n = cst.Attribute(n, cst.Name(p))
    return n

tokens = re.compile("|".join(sorted({re.escape(k.rpartition(".")[0]) for k in S} | {re.escape(k) for k in S}, key=len, reverse=True)))
reports = []

class Rewrite(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (ScopeProvider,)
    def __init__(self, path, self_module):
        self.path, self.self_module = path, self_module
        self.rename_nodes = {}
        self.self_names = set()
    def leave_Attribute(self, o, u):
        return u.attr if o.value in self.self_names else u
    def visit_Module(self, node):
        scope_nodes = set(self.metadata[ScopeProvider].values()) if False else None
        scopes = {s for s in self.get_metadata_map().values() if s is not None}
        self.bound = set()
        for s in scopes:
            for a in s.assignments: self.bound.add(a.name)
        for s in scopes:
            for a in s.assignments:
                if isinstance(a, ImportAssignment) and isinstance(a.node, cst.ImportFrom) and not a.node.relative:
                    M = name_of(a.node.module)
                    al = next((x for x in a.node.names if (x.evaluated_alias or x.evaluated_name) == a.name), None)
                    if al is None: continue
                    full = M + "." + name_of(al.name)
                    if full in S:
                        new = S[full].rpartition(".")[2]
                        if al.asname is not None and S[full] != self.self_module: continue
                        if S[full] == self.self_module:
                            for acc in a.references:
                                n = acc.node
                                while isinstance(n, cst.Attribute): n = n.value
                                self.self_names.add(n)
                            continue
                        if new != a.name:
                            if new in self.bound:
                                if S[full] in ALIASES and ALIASES[S[full]] not in self.bound:
                                    new = ALIASES[S[full]]
                                else:
                                    reports.append(f"KEEP-AS {self.path}: {full} as {a.name}: {new} is bound")
                                    self.keep_as = {**getattr(self, "keep_as", {}), full: a.name}
                                    continue
                                self.keep_as = {**getattr(self, "keep_as", {}), full: new}
                            for acc in a.references:
                                n = acc.node
                                while isinstance(n, cst.Attribute): n = n.value
                                self.rename_nodes[n] = new
    def get_metadata_map(self): return self.metadata[ScopeProvider]
    def leave_Name(self, o, u):
        if o in self.rename_nodes: return u.with_changes(value=self.rename_nodes[o])
        return u
    def leave_SimpleStatementLine(self, o, u):
        out = []; changed = False
        for s_o, s in zip(o.body, u.body):
            if isinstance(s_o, cst.ImportFrom) and not s_o.relative and not isinstance(s_o.names, cst.ImportStar):
                new = self.import_from(s_o)
                if new is not None:
                    changed = True; out += new; continue
            if isinstance(s_o, cst.Import):
                al = []
                for a in s_o.names:
                    d = name_of(a.name)
                    if d in S:
                        changed = True
                        if a.asname is None: reports.append(f"IMPORT {self.path}: import {d} -> {S[d]}: uses by hand")
                        a = a.with_changes(name=to_node(S[d]))
                    al.append(a)
                out.append(s.with_changes(names=al)); continue
            out.append(s)
        if not changed: return u
        if not out: return cst.RemoveFromParent()
        lines = [cst.SimpleStatementLine(body=[x.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]) for x in out]
        lines[0] = lines[0].with_changes(leading_lines=u.leading_lines)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=u.trailing_whitespace)
        return cst.FlattenSentinel(lines)
    def import_from(self, s):
        M = name_of(s.module)
        if M not in S and not any(f"{M}.{name_of(a.name)}" in S for a in s.names): return None
        by = collections.OrderedDict()
        for a in s.names:
            n = name_of(a.name); full = f"{M}.{n}"
            a = a.with_changes(comma=cst.MaybeSentinel.DEFAULT)
            if full in S:
                pkg, _, new = S[full].rpartition(".")
                asname = a.asname
                if S[full] == self.self_module:
                    by.setdefault(pkg, []); continue
                if asname is None and full in getattr(self, "keep_as", {}):
                    asname = cst.AsName(cst.Name(self.keep_as[full]))
                by.setdefault(pkg, []).append(a.with_changes(name=cst.Name(new), asname=asname))
            else:
                T = S.get(M, M)
                if (oldpath := next((x for x in (M.replace(".", "/") + ".py",) if (x, n) in RENAMES), None)):
                    nn = RENAMES[(oldpath, n)]
                    a = a.with_changes(name=cst.Name(nn), asname=a.asname or cst.AsName(cst.Name(n)))
                    reports.append(f"RENAMED {self.path}: {M}.{n} is {nn} now")
                if T == self.self_module:
                    if a.asname is not None: reports.append(f"SELF-AS {self.path}: {M}.{n} as {name_of(a.asname.name)}")
                    by.setdefault(T, []); continue
                by.setdefault(T, []).append(a)
        return [cst.ImportFrom(module=to_node(T), names=names) for T, names in by.items() if names]

class RenameTop(cst.CSTTransformer):
    """Renames private top-level names of a module that is merged."""
    METADATA_DEPENDENCIES = (ScopeProvider,)
    def __init__(self, names): self.names, self.nodes = names, set()
    def visit_Module(self, node):
        for s in {x for x in self.metadata[ScopeProvider].values() if x is not None}:
            if isinstance(s, GlobalScope):
                for a in s.assignments:
                    if a.name in self.names:
                        self.nodes.add(a.node)
                        for acc in a.references:
                            n = acc.node
                            while isinstance(n, cst.Attribute): n = n.value
                            self.nodes.add(n)
    def leave_Name(self, o, u): return u.with_changes(value=self.names[o.value]) if o in self.nodes else u
    def leave_FunctionDef(self, o, u): return u.with_changes(name=cst.Name(self.names[o.name.value])) if o in self.nodes else u
    def leave_ClassDef(self, o, u): return u.with_changes(name=cst.Name(self.names[o.name.value])) if o in self.nodes else u

def transform(path, text, self_module):
    names = {n: v for (p, n), v in RENAMES.items() if p == path and path in moves | {}}
    if names:
        text = MetadataWrapper(cst.parse_module(text)).visit(RenameTop(names)).code
    if not tokens.search(text): return text
    return MetadataWrapper(cst.parse_module(text)).visit(Rewrite(path, self_module)).code

DOT = re.compile(r"(?<![\w./])(" + "|".join(re.escape(k) for k in sorted(S, key=len, reverse=True)) + r")(?![\w/])")
FILE = re.compile(r"(?<![\w./])(" + "|".join(re.escape(k.replace(".", "/")) for k in sorted(S, key=len, reverse=True)) + r")(?=\.py\b|`|\")")
FROM = re.compile(r"from ([\w.]+) import (\w+)( as \w+)?(?!\s*,)")

def replaced(path, text):
    def from_(mt):
        full = f"{mt[1]}.{mt[2]}"
        if full not in S: return mt[0]
        pkg, _, base = S[full].rpartition(".")
        reports.append(f"CODE-STR {path}: {mt[0]}")
        return f"from {pkg} import {base}" + (mt[3] or (f" as {mt[2]}" if base != mt[2] else ""))
    def dot(mt): reports.append(f"STR {path}: {mt[1]} -> {S[mt[1]]}"); return S[mt[1]]
    def file(mt):
        new = S[mt[1].replace("/", ".")].replace(".", "/"); reports.append(f"PATH {path}: {mt[1]} -> {new}"); return new
    return FILE.sub(file, DOT.sub(dot, FROM.sub(from_, text)))

def strings(path, text):
    """Dotted paths and file paths in strings, comments and docs."""
    if not path.endswith(".py"): return replaced(path, text)
    if not (DOT.search(text) or FILE.search(text) or FROM.search(text)): return text
    import io, tokenize
    lines = text.splitlines(keepends=True); starts = [0]
    for l in lines: starts.append(starts[-1] + len(l))
    out, at = [], 0
    for tok in tokenize.generate_tokens(io.StringIO(text).readline):
        if tok.type in (tokenize.STRING, tokenize.COMMENT):
            i, j = starts[tok.start[0]-1] + tok.start[1], starts[tok.end[0]-1] + tok.end[1]
            out += [text[at:i], replaced(path, text[i:j])]; at = j
    return "".join(out) + text[at:]

IMPORT_LINE = (cst.Import, cst.ImportFrom)
def split(code, seen_aliases):
    """docstring, imports, type-checking imports, body statements"""
    mod = cst.parse_module(code); doc = None; imports = []; typing = []; body = []
    for i, st in enumerate(mod.body):
        if i == 0 and m.matches(st, m.SimpleStatementLine(body=[m.Expr(m.SimpleString() | m.ConcatenatedString())])):
            doc = st.body[0].value.evaluated_value; continue
        if isinstance(st, cst.SimpleStatementLine) and all(isinstance(x, IMPORT_LINE) for x in st.body):
            imports.append(mod.code_for_node(st).strip("\n")); continue
        if isinstance(st, cst.If) and m.matches(st.test, m.Name("TYPE_CHECKING")):
            typing.append(mod.code_for_node(st).strip("\n")); continue
        code = mod.code_for_node(st)
        if isinstance(st, cst.SimpleStatementLine) and code.strip() in seen_aliases: continue
        if isinstance(st, cst.SimpleStatementLine) and m.matches(st.body[0], m.Assign()): seen_aliases.add(code.strip())
        body.append(code)
    return doc, imports, typing, "".join(body).strip("\n")

texts = {p: Path(p).read_text("utf-8") for p in tracked}
new_texts = {}
for p in tracked:
    t = texts[p]
    target = moves.get(p, p)
    t2 = transform(p, t, dotted(target))
    new_texts[p] = strings(p, t2)

def order(paths):
    """A module that another of the group imports comes first."""
    deps = {p: {q for q in paths if q != p and (f"from {dotted(q)} import" in texts[p] or re.search(rf"from {re.escape(dotted(q).rpartition('.')[0])} import [^\n]*\b{dotted(q).rpartition('.')[2]}\b", texts[p]))} for p in paths}
    out = []
    while len(out) < len(paths):
        ready = [p for p in paths if p not in out and deps[p] <= set(out)] or [p for p in paths if p not in out]
        out.append(ready[0])
    return out

results = {}
for b, group in groups.items():
    if len(group) == 1:
        results[b] = new_texts[group[0]]; continue
    main = next((g for g in group if Path(g).stem == Path(b).stem), max(group, key=lambda g: len(texts[g])))
    docs, imports, typing, bodies = [], [], [], []
    names = collections.Counter(); seen_aliases = set()
    for g in order(group):
        d, i, t, body = split(new_texts[g], seen_aliases)
        docs.append((g, d or "")); imports += i; typing += t; bodies.append(body)
        for n in {x for x in re.findall(r"^(?:def|class|async def)\s+(\w+)|^(\w+)(?::[^=\n]+)?\s*=", body, re.M) for x in x if x}: names[n] += 1
    for n, c in names.items():
        if c > 1: reports.append(f"COLLIDE {b}: {n} in {group}")
    first = next(d for g, d in docs if g == main)
    rest = [d for g, d in docs if g != main and d]
    doc = first.rstrip() + "".join("\n\n" + d.strip() for d in rest)
    head = '"""' + doc + ("\n" if "\n" in doc else "") + '"""\n\n'
    seen = list(dict.fromkeys(imports))
    results[b] = head + "\n".join(seen) + "\n\n" + "\n\n".join(dict.fromkeys(typing)) + "\n\n\n" + "\n\n\n".join(bodies) + "\n"
    reports.append(f"MERGE {b} <- {group}: {results[b].count(chr(10))} lines")

# write
for p in tracked:
    if p not in moves and p not in groups and new_texts[p] != texts[p]: Path(p).write_text(new_texts[p], "utf-8")
for b, group in groups.items():
    src = next((g for g in group if Path(g).stem == Path(b).stem), max(group, key=lambda g: len(texts[g])))
    Path(b).parent.mkdir(parents=True, exist_ok=True)
    if src != b:
        if Path(b).exists() and b in moves:   # its place is taken by one that moves too
            Path(b).rename(b + ".moving"); git("rm", "-q", "--cached", b); moving = True
        if Path(src + ".moving").exists(): Path(src + ".moving").rename(b); git("add", b)
        else: git("mv", "-f", src, b)
    for g in group:
        if g not in (src, b) and Path(g).exists(): git("rm", "-qf", g)
for b in groups: Path(b).write_text(results[b], "utf-8"); git("add", b)
DOCS = [p for p in git("ls-files", "*.md", "*.toml", "Makefile", "*.yaml", "*.yml", "*.cfg").split()]
for p in DOCS:
    t = Path(p).read_text("utf-8"); t2 = strings(p, t)
    if t2 != t: Path(p).write_text(t2, "utf-8")
# packages
for b in groups:
    d = Path(b).parent
    while str(d) != ".":
        init = d / "__init__.py"
        if not init.exists(): init.write_text("", "utf-8"); git("add", str(init)); reports.append(f"INIT {init}")
        d = d.parent
with DONE.open("a") as f: f.write("\n".join(moves) + "\n")
for p in groups:
    if "__file__" in results[p]: reports.append(f"__file__ in {p}")
for r in reports: print(r)
# empty packages
for init in git("ls-files", "*/__init__.py").split():
    d = Path(init).parent
    others = [x for x in git("ls-files", str(d)).split() if x != init]
    if not others and Path(init).exists() and len(Path(init).read_text().splitlines()) <= 1 and not str(d).startswith("tests"):
        print("EMPTY", init); git("rm", "-qf", init)
