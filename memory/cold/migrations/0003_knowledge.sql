-- Files that a person added: each current row of `knowledge` is one memory. Its text stands in the archive, as the
-- pages of a conversation of kind knowledge.

CREATE TABLE knowledge (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL UNIQUE,          -- 'k_…'
    source        TEXT NOT NULL,                 -- the file's absolute path
    name          TEXT NOT NULL,                 -- as it is shown: its path below the folder that was named
    root          TEXT NOT NULL,                 -- that folder; '' where the file itself was named
    kind          TEXT NOT NULL,                 -- pdf | docx | pptx | markdown | html | text | code | picture
    category      TEXT NOT NULL,
    bytes         INTEGER NOT NULL,
    mtime_ns      INTEGER NOT NULL,
    sha256        BLOB NOT NULL,                 -- of the file's bytes
    text_sha256   BLOB NOT NULL,                 -- of the text that was kept
    chars         INTEGER NOT NULL,              -- of that text
    added_ms      INTEGER NOT NULL,              -- this version
    importance    REAL NOT NULL DEFAULT 5,       -- 0 to 10
    accesses      INTEGER NOT NULL DEFAULT 0,
    accessed_ms   INTEGER,
    conversation  INTEGER NOT NULL REFERENCES conversations (seq) ON DELETE CASCADE,
    missing_ms    INTEGER,                       -- when the file was noticed to be gone
    replaced_ms   INTEGER,                       -- when a newer version took its place
    sketch        BLOB NOT NULL                  -- the least hashes of its shingles: near-duplicates share most
) STRICT;
CREATE UNIQUE INDEX knowledge_by_source ON knowledge (source) WHERE replaced_ms IS NULL;  -- two processes add it once
CREATE INDEX knowledge_by_conversation ON knowledge (conversation);

CREATE TABLE knowledge_places (                  -- where in the file a stretch of its text stands
    memory  INTEGER NOT NULL REFERENCES knowledge (seq) ON DELETE CASCADE,
    start   INTEGER NOT NULL,                    -- characters within the file's text
    place   TEXT NOT NULL,                       -- 'page 3', 'slide 2', a heading, 'line 41'
    read_by TEXT NOT NULL DEFAULT '',            -- the OCR engine; '' for the file's own text
    PRIMARY KEY (memory, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE knowledge_views (                   -- what a vision model can be shown of a file
    memory  INTEGER NOT NULL REFERENCES knowledge (seq) ON DELETE CASCADE,
    number  INTEGER NOT NULL,                    -- from 1
    start   INTEGER NOT NULL,                    -- characters within the file's text
    length  INTEGER NOT NULL,
    picture TEXT NOT NULL DEFAULT '',            -- a kept picture's file name; '' for a page drawn from the text
    mode    TEXT NOT NULL,                       -- tiny | small | base | large, where nothing was forgotten
    PRIMARY KEY (memory, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX knowledge_views_by_picture ON knowledge_views (picture);

CREATE TABLE knowledge_patterns (                -- importance by pattern: it holds for files added later, too
    pattern    TEXT PRIMARY KEY,
    importance REAL NOT NULL,
    set_ms     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
