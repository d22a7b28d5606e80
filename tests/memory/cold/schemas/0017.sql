PRAGMA foreign_keys = OFF;
BEGIN;
CREATE TABLE conversations (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    source     TEXT NOT NULL DEFAULT '',   -- '' was held here; else what an import named
    id         TEXT NOT NULL,              -- 'c_…', or the id it came with
    title      BLOB NOT NULL DEFAULT x'',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    leaf       INTEGER REFERENCES entries (seq),
    kind       TEXT NOT NULL DEFAULT 'chat', seal BLOB,  -- chat | archive (the pages of a file)
    UNIQUE (source, id)
) STRICT;
CREATE TABLE labels (
    conversation INTEGER NOT NULL REFERENCES conversations (seq) ON DELETE CASCADE,
    label        TEXT NOT NULL, seal BLOB,
    PRIMARY KEY (conversation, label)
) STRICT, WITHOUT ROWID;
CREATE TABLE entries (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL REFERENCES conversations (seq),
    id           TEXT NOT NULL,            -- 'e_…', or the id it came with
    parent       INTEGER REFERENCES entries (seq),
    kind         TEXT NOT NULL,            -- message | tool_call | tool_result | summary | page
    role         TEXT NOT NULL,
    speaker      TEXT NOT NULL DEFAULT '',
    time_ms      INTEGER NOT NULL,
    body         BLOB,                     -- NULL once its home is the archive
    packed       INTEGER NOT NULL DEFAULT 0,  -- 1: body is a zstd frame
    chars        INTEGER NOT NULL,
    sha256       BLOB NOT NULL,            -- of the text's bytes
    sent         BLOB,                     -- the tail's injected parts, as they were sent (JSON); never searched
    meta         BLOB,                     -- JSON: usage, model, stop reason, tool, the rest of an imported line
    complete     INTEGER NOT NULL DEFAULT 1,  -- 0: an answer still in flight, or cut off; its words are in chunks
    UNIQUE (conversation, id)
) STRICT;
CREATE TABLE answers (                     -- answers in flight, and who is writing them
    entry INTEGER PRIMARY KEY REFERENCES entries (seq) ON DELETE CASCADE,
    owner TEXT NOT NULL                    -- the lock file that its process holds while it lives
) STRICT;
CREATE TABLE chunks (                      -- an answer in flight, as it came
    entry INTEGER NOT NULL REFERENCES entries (seq) ON DELETE CASCADE,
    n     INTEGER NOT NULL,
    body  BLOB NOT NULL, seal BLOB,
    PRIMARY KEY (entry, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE terms (                       -- written with its entry; stays when the text goes to the archive
    entry  INTEGER PRIMARY KEY REFERENCES entries (seq) ON DELETE CASCADE,
    terms  BLOB NOT NULL,                  -- memory.search.analyse packs and unpacks it
    length INTEGER NOT NULL                -- terms in all, repeats counted
, analyser TEXT NOT NULL DEFAULT '1', derived INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE changes (                     -- what a second process must catch up with
    seq   INTEGER PRIMARY KEY AUTOINCREMENT,
    op    TEXT NOT NULL,                   -- add | change | archive | remove
    entry INTEGER NOT NULL
) STRICT;
CREATE TABLE packs (
    name       TEXT PRIMARY KEY,           -- the file in packs/, never reused
    bytes      INTEGER NOT NULL,
    sha256     BLOB NOT NULL,
    created_ms INTEGER NOT NULL
, kind TEXT NOT NULL DEFAULT 'warm') STRICT;
CREATE TABLE archives (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    label      TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    origin     TEXT NOT NULL               -- file | conversation
, pinned INTEGER NOT NULL DEFAULT 0, bare INTEGER NOT NULL DEFAULT 0, conversation INTEGER REFERENCES conversations (seq) ON DELETE SET NULL, seal BLOB) STRICT;
CREATE TABLE pages (
    id            TEXT PRIMARY KEY,        -- 'pg_…'
    archive       INTEGER NOT NULL REFERENCES archives (seq),
    number        INTEGER NOT NULL,        -- from 1 within its archive
    mode          TEXT NOT NULL,
    width         INTEGER NOT NULL,
    height        INTEGER NOT NULL,
    chars         INTEGER NOT NULL,
    sha256        BLOB NOT NULL,           -- of the page's text
    pack          TEXT NOT NULL REFERENCES packs (name),
    position      INTEGER NOT NULL,        -- of the page within its pack, from 0
    text_tokens   INTEGER NOT NULL,
    vision_tokens INTEGER NOT NULL
, cell TEXT NOT NULL DEFAULT '8x16', factsheet TEXT NOT NULL DEFAULT '[]') STRICT;
CREATE TABLE spans (                       -- which part of which entry stands where on which page
    entry      INTEGER NOT NULL REFERENCES entries (seq) ON DELETE CASCADE,
    start      INTEGER NOT NULL,           -- characters within the entry
    length     INTEGER NOT NULL,
    page       TEXT NOT NULL REFERENCES pages (id),
    page_start INTEGER NOT NULL,           -- characters within the page's text
    PRIMARY KEY (entry, start)
) STRICT, WITHOUT ROWID;
CREATE TABLE epochs (                      -- the head of the requests now being sent, one a conversation
    conversation INTEGER PRIMARY KEY REFERENCES conversations (seq) ON DELETE CASCADE,
    number       INTEGER NOT NULL,
    started_ms   INTEGER NOT NULL,
    reason       TEXT NOT NULL,
    state        BLOB NOT NULL             -- JSON, context's own
, seal BLOB) STRICT;
CREATE TABLE requests (                    -- the digest of the last request that was sent, one a conversation
    conversation INTEGER PRIMARY KEY REFERENCES conversations (seq) ON DELETE CASCADE,
    entry        INTEGER NOT NULL,
    sent_ms      INTEGER NOT NULL,
    state        BLOB NOT NULL             -- JSON, context's own
, seal BLOB) STRICT;
CREATE TABLE token_counts (
    entry     INTEGER NOT NULL REFERENCES entries (seq) ON DELETE CASCADE,
    tokenizer TEXT NOT NULL,
    tokens    INTEGER NOT NULL,
    PRIMARY KEY (entry, tokenizer)
) STRICT, WITHOUT ROWID;
CREATE TABLE usage (                       -- what each answer cost
    entry             INTEGER PRIMARY KEY REFERENCES entries (seq) ON DELETE CASCADE,
    model             TEXT NOT NULL,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens     INTEGER,
    estimated         INTEGER NOT NULL,
    ms                INTEGER NOT NULL
, seal BLOB) STRICT;
CREATE TABLE mirrors (                     -- what conversations/<id>.md held when it was last written
    conversation INTEGER PRIMARY KEY REFERENCES conversations (seq) ON DELETE CASCADE,
    leaf         INTEGER NOT NULL,         -- the last entry in it
    head         BLOB NOT NULL,            -- its lines above the first turn
    bytes        INTEGER NOT NULL,
    sha256       BLOB NOT NULL             -- of the whole file
, seal BLOB) STRICT;
CREATE TABLE archive_tags (
    archive INTEGER NOT NULL REFERENCES archives (seq) ON DELETE CASCADE,
    tag     TEXT NOT NULL,
    PRIMARY KEY (archive, tag)
) STRICT, WITHOUT ROWID;
CREATE TABLE archive_pages (               -- pages.archive is where a page was drawn; others may hold it too
    archive INTEGER NOT NULL REFERENCES archives (seq) ON DELETE CASCADE,
    number  INTEGER NOT NULL,              -- from 1
    page    TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    PRIMARY KEY (archive, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE passages (                    -- where a passage stands, so that it is drawn once
    hash       BLOB NOT NULL,              -- of its text
    part       INTEGER NOT NULL,           -- from 0: a passage may go on on the next page
    page       TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    page_start INTEGER NOT NULL,           -- characters within the page's text
    length     INTEGER NOT NULL,
    PRIMARY KEY (hash, part)
) STRICT, WITHOUT ROWID;
CREATE TABLE leaving (                     -- files beside the packs that are to be deleted
    name  TEXT PRIMARY KEY,
    owner TEXT NOT NULL                    -- '': as soon as nobody reads it; else once that process has ended
) STRICT, WITHOUT ROWID;
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
, seal BLOB) STRICT;
CREATE TABLE knowledge_places (                  -- where in the file a stretch of its text stands
    memory  INTEGER NOT NULL REFERENCES knowledge (seq) ON DELETE CASCADE,
    start   INTEGER NOT NULL,                    -- characters within the file's text
    place   TEXT NOT NULL,                       -- 'page 3', 'slide 2', a heading, 'line 41'
    read_by TEXT NOT NULL DEFAULT '', seal BLOB,            -- the OCR engine; '' for the file's own text
    PRIMARY KEY (memory, start)
) STRICT, WITHOUT ROWID;
CREATE TABLE knowledge_views (                   -- what a vision model can be shown of a file
    memory  INTEGER NOT NULL REFERENCES knowledge (seq) ON DELETE CASCADE,
    number  INTEGER NOT NULL,                    -- from 1
    start   INTEGER NOT NULL,                    -- characters within the file's text
    length  INTEGER NOT NULL,
    picture TEXT NOT NULL DEFAULT '',            -- a kept picture's file name; '' for a page drawn from the text
    mode    TEXT NOT NULL, seal BLOB,                       -- tiny | small | base | large, where nothing was forgotten
    PRIMARY KEY (memory, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE knowledge_patterns (                -- importance by pattern: it holds for files added later, too
    pattern    TEXT PRIMARY KEY,
    importance REAL NOT NULL,
    set_ms     INTEGER NOT NULL
, seal BLOB) STRICT, WITHOUT ROWID;
CREATE TABLE unsealed (
    pack TEXT PRIMARY KEY                  -- '' is for archives that have no page of their own
) STRICT, WITHOUT ROWID;
CREATE TABLE seals (
    entry INTEGER PRIMARY KEY REFERENCES entries (seq) ON DELETE CASCADE,
    seal  BLOB NOT NULL                    -- memory.cold.seals: all of its row but the body, which sha256 vouches for
) STRICT;
CREATE TABLE deletions (
    token        TEXT PRIMARY KEY,           -- SHA-256 of the conversation's source and id, hex
    name         TEXT NOT NULL DEFAULT '',   -- SHA-256 of the id alone, hex: who deletes again is told that it is done
    conversation INTEGER NOT NULL,           -- its seq, 0 where it is known from beside the packs alone
    deleted_ms   INTEGER NOT NULL,
    pages        TEXT NOT NULL DEFAULT '[]', -- ids of the pages that were drawn for it: a JSON list
    finished     INTEGER NOT NULL DEFAULT 0  -- 1: no pack holds a word of it
) STRICT, WITHOUT ROWID;
CREATE TABLE observed (
    maker TEXT PRIMARY KEY,                -- rules
    entry INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE model_requests (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    time_ms           INTEGER NOT NULL,
    purpose           TEXT NOT NULL,          -- observe
    conversation      INTEGER REFERENCES conversations (seq) ON DELETE SET NULL,
    model             TEXT NOT NULL,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens     INTEGER,
    estimated         INTEGER NOT NULL,       -- 1: reserved, or counted here
    ms                INTEGER NOT NULL,
    cost              BLOB                    -- JSON, as in an entry's meta
) STRICT;
CREATE TABLE unobserved (
    entry INTEGER PRIMARY KEY REFERENCES entries (seq) ON DELETE CASCADE
) STRICT;
CREATE TABLE sync_device (                 -- this device, once a location was added
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    id      TEXT NOT NULL,                 -- 'd_…'
    name    TEXT NOT NULL,
    clock   INTEGER NOT NULL,              -- the highest hybrid clock that was given or seen (memory.sync.clock)
    segment INTEGER NOT NULL DEFAULT 0     -- the last segment's number
, recipient TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE sync_devices (                -- the others, by what they wrote
    id      TEXT PRIMARY KEY,
    name    TEXT NOT NULL,
    read_ms INTEGER NOT NULL               -- when something new of it was last read
) STRICT, WITHOUT ROWID;
CREATE TABLE sync_entries (                -- entries made here; segment: NULL until it is written
    entry   INTEGER PRIMARY KEY REFERENCES entries (seq) ON DELETE CASCADE,
    segment INTEGER
) STRICT;
CREATE TABLE sync_values (                 -- each title and label that was set on any device; the highest clock holds
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL REFERENCES conversations (seq) ON DELETE CASCADE,
    field        TEXT NOT NULL,            -- '' is the title; else a label
    value        BLOB,                     -- the title, or x'' for a label; NULL: the label was taken away
    clock        INTEGER,                  -- NULL until the commit
    device       TEXT NOT NULL DEFAULT '',
    own          INTEGER NOT NULL DEFAULT 1,
    segment      INTEGER
, heard BLOB NOT NULL DEFAULT x'') STRICT;
CREATE TABLE sync_deletions (              -- deletions that were finished here
    token   TEXT PRIMARY KEY REFERENCES deletions (token) ON DELETE CASCADE,
    segment INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE sync_forgotten (              -- tombstones of forgotten entries, of this device and of others
    token        TEXT PRIMARY KEY,         -- the hash of the entry's name
    forgotten_ms INTEGER NOT NULL,
    own          INTEGER NOT NULL DEFAULT 1,
    segment      INTEGER
, device TEXT NOT NULL DEFAULT '', answer INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE sync_notes (                  -- each version of a note file that was made on any device
    id      TEXT PRIMARY KEY,              -- SHA-256 of all the rest but own and segment
    path    TEXT NOT NULL,
    parents TEXT NOT NULL,                 -- ids of the versions that it was made from: a JSON list
    body    BLOB NOT NULL,                 -- zstd; of an empty text where the file was deleted
    clock   INTEGER NOT NULL,
    device  TEXT NOT NULL,
    own     INTEGER NOT NULL DEFAULT 1,
    segment INTEGER
, forgotten BLOB NOT NULL DEFAULT x'', heard BLOB NOT NULL DEFAULT x'', renamed INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE sync_merged (                 -- what a note file held here when its versions were last put together
    path   TEXT PRIMARY KEY,
    heads  TEXT NOT NULL,                  -- ids of the versions: a JSON list
    sha256 BLOB NOT NULL                   -- of the text
, stale INTEGER NOT NULL DEFAULT 1, heard BLOB NOT NULL DEFAULT x'', held_by TEXT NOT NULL DEFAULT '', held_lines INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE sync_waiting (                -- operations of others that need an entry which was not read yet
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL REFERENCES conversations (seq) ON DELETE CASCADE,
    id           TEXT NOT NULL,
    needs        TEXT NOT NULL,            -- the entry's id
    operation    BLOB NOT NULL,
    UNIQUE (conversation, id)
) STRICT;
CREATE TABLE sync_due (                    -- deletions of others that are still to be made here
    token      TEXT PRIMARY KEY,
    deleted_ms INTEGER NOT NULL
, device TEXT NOT NULL DEFAULT '', answer INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE sync_written (                -- own segments at each location
    location TEXT NOT NULL,
    name     TEXT NOT NULL,
    number   INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    stale    INTEGER NOT NULL DEFAULT 0,   -- 1: something in it was deleted since, or added
    current  INTEGER NOT NULL DEFAULT 1,   -- 0: another took its place
    PRIMARY KEY (location, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE sync_read (                   -- segments of others, and why one could not be read
    location TEXT NOT NULL,
    name     TEXT NOT NULL,
    problem  TEXT NOT NULL DEFAULT '', reader INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (location, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE sync_forgotten_lines (        -- their words, as hashes under this workspace's secret
    note       TEXT NOT NULL,              -- the note's path
    line       TEXT NOT NULL,
    forgetting INTEGER NOT NULL,           -- a number that names it on all devices
    PRIMARY KEY (note, line, forgetting)
) STRICT, WITHOUT ROWID;
CREATE TABLE sync_forgotten_names (        -- forgettings of a conversation's title, or of labels of it
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL REFERENCES conversations (seq) ON DELETE CASCADE,
    labels       INTEGER NOT NULL,         -- 0: of its title, 1: of its labels
    forgetting   INTEGER NOT NULL,         -- a number that names it on all devices
    dropped      BLOB NOT NULL DEFAULT x'', -- clocks and devices of the labels that held the words
    own          INTEGER NOT NULL DEFAULT 1,
    segment      INTEGER,
    UNIQUE (conversation, labels, forgetting)
) STRICT;
CREATE TABLE sync_renamed_notes (
    note    TEXT NOT NULL,              -- the name before, as a hash under this workspace's secret
    renamed INTEGER NOT NULL,           -- the clock of the forgetting, which names it on all devices
    path    TEXT NOT NULL,              -- the name since
    due     INTEGER NOT NULL DEFAULT 1, -- 1: the file here may have the name of before
    PRIMARY KEY (note, renamed, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE sync_unasked (                -- what was taken without a question lately, of all devices together
    taken_ms INTEGER NOT NULL,
    entries  INTEGER NOT NULL              -- entries or lines of notes
) STRICT;
INSERT INTO conversations VALUES (1, '', 'c_bhs9pc2w64sw', X'5472697020EDA080', 1773480413000, 1773480413000, 3, 'chat', X'D1DE8A4B157EDF15');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES ('changes', 4);
INSERT INTO sqlite_sequence VALUES ('sync_values', 0);
INSERT INTO sqlite_sequence VALUES ('conversations', 1);
INSERT INTO sqlite_sequence VALUES ('entries', 3);
INSERT INTO sqlite_sequence VALUES ('model_requests', 1);
INSERT INTO labels VALUES (1, 'travel', X'0209027793F2D2A9');
INSERT INTO entries VALUES (1, 1, 'e_question', NULL, 'message', 'user', '', 1773480413000, X'5768657265206973207468652074656E743F20EDB080', 0, 20, X'A6AD12CC2522522F4221C6C3DEFA837C2142CBFAE605A5DF41B815A860A1A6F0', X'5B7B2274797065223A2274657874222C2274657874223A2278222C22696E6A6563746564223A22736B696C6C222C226E6F6E6365223A22227D5D', NULL, 1);
INSERT INTO entries VALUES (2, 1, 'e_answer', 1, 'message', 'assistant', 'qwen', 1773480413000, X'28B52FFD64B80ABD000078496E207468652063656C6C61722E200100A6137FD6010C1D1459', 1, 3000, X'8583B324D46C36BEF4122580F968C34D84EC84BBDED0F79553F03D736C3CA9CA', NULL, X'7B22726561736F6E223A2273746F70227D', 1);
INSERT INTO entries VALUES (3, 1, 'e_cut', 2, 'message', 'assistant', '', 1773480413000, X'', 0, 0, X'0000000000000000000000000000000000000000000000000000000000000000', NULL, NULL, 0);
INSERT INTO answers VALUES (3, 'w_gone');
INSERT INTO chunks VALUES (3, 0, X'48616C66206F6620', X'2A36EF4FEA3208F9');
INSERT INTO chunks VALUES (3, 1, X'6974', X'5CDFF9CB304BC4E7');
INSERT INTO terms VALUES (1, X'5768657265206973207468652074656E743F20EDB080', 5, 'fake', 0);
INSERT INTO terms VALUES (2, X'7177656E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20496E207468652063656C6C61722E20', 601, 'fake', 0);
INSERT INTO terms VALUES (3, X'', 0, 'fake', 0);
INSERT INTO changes VALUES (1, 'add', 1);
INSERT INTO changes VALUES (2, 'add', 2);
INSERT INTO changes VALUES (3, 'change', 2);
INSERT INTO changes VALUES (4, 'add', 3);
INSERT INTO epochs VALUES (1, 1, 1773480413000, 'start', X'7B7D', X'4AD2F6D2CAEC603A');
INSERT INTO usage VALUES (2, 'qwen', 10, 5, NULL, 0, 900, X'5A02D8607C9AF2F9');
INSERT INTO seals VALUES (1, X'9124ECCB2C8CE9FE');
INSERT INTO seals VALUES (2, X'5D84384C852BBE90');
INSERT INTO seals VALUES (3, X'B9E5595A1E71BA6C');
INSERT INTO observed VALUES ('rules', 0);
INSERT INTO model_requests VALUES (1, 1773480413000, 'observe', 1, 'writer', 900, 300, NULL, 1, 0, NULL);
CREATE INDEX conversations_by_update ON conversations (updated_ms);
CREATE INDEX conversations_by_leaf ON conversations (leaf);
CREATE INDEX entries_by_id ON entries (id);
CREATE INDEX entries_by_parent ON entries (parent);
CREATE INDEX entries_by_time ON entries (time_ms);
CREATE INDEX pages_by_archive ON pages (archive, number);
CREATE INDEX spans_by_page ON spans (page);
CREATE INDEX archives_by_conversation ON archives (conversation);
CREATE INDEX pages_by_pack ON pages (pack);
CREATE INDEX archive_pages_by_page ON archive_pages (page);
CREATE INDEX passages_by_page ON passages (page);
CREATE UNIQUE INDEX knowledge_by_source ON knowledge (source) WHERE replaced_ms IS NULL;
CREATE INDEX knowledge_by_conversation ON knowledge (conversation);
CREATE INDEX knowledge_views_by_picture ON knowledge_views (picture);
CREATE INDEX terms_by_analyser ON terms (analyser);
CREATE INDEX conversations_unsealed ON conversations (seq) WHERE seal IS NULL;
CREATE INDEX labels_unsealed ON labels (conversation, label) WHERE seal IS NULL;
CREATE INDEX archives_unsealed ON archives (seq) WHERE seal IS NULL;
CREATE INDEX chunks_unsealed ON chunks (entry, n) WHERE seal IS NULL;
CREATE INDEX epochs_unsealed ON epochs (conversation) WHERE seal IS NULL;
CREATE INDEX requests_unsealed ON requests (conversation) WHERE seal IS NULL;
CREATE INDEX usage_unsealed ON usage (entry) WHERE seal IS NULL;
CREATE INDEX mirrors_unsealed ON mirrors (conversation) WHERE seal IS NULL;
CREATE INDEX knowledge_unsealed ON knowledge (seq) WHERE seal IS NULL;
CREATE INDEX knowledge_places_unsealed ON knowledge_places (memory, start) WHERE seal IS NULL;
CREATE INDEX knowledge_views_unsealed ON knowledge_views (memory, number) WHERE seal IS NULL;
CREATE INDEX knowledge_patterns_unsealed ON knowledge_patterns (pattern) WHERE seal IS NULL;
CREATE TRIGGER conversations_changed AFTER UPDATE OF seq, source, id, title, created_ms, kind ON conversations
BEGIN UPDATE conversations SET seal = NULL WHERE seq = new.seq; END;
CREATE TRIGGER labels_changed AFTER UPDATE OF conversation, label ON labels
BEGIN UPDATE labels SET seal = NULL WHERE conversation = new.conversation AND label = new.label; END;
CREATE TRIGGER archives_changed AFTER UPDATE OF seq, label, created_ms, origin ON archives
BEGIN UPDATE archives SET seal = NULL WHERE seq = new.seq; END;
CREATE TRIGGER chunks_changed AFTER UPDATE OF entry, n, body ON chunks
BEGIN UPDATE chunks SET seal = NULL WHERE entry = new.entry AND n = new.n; END;
CREATE TRIGGER epochs_changed AFTER UPDATE OF conversation, number, started_ms, reason, state ON epochs
BEGIN UPDATE epochs SET seal = NULL WHERE conversation = new.conversation; END;
CREATE TRIGGER requests_changed AFTER UPDATE OF conversation, entry, sent_ms, state ON requests
BEGIN UPDATE requests SET seal = NULL WHERE conversation = new.conversation; END;
CREATE TRIGGER usage_changed AFTER UPDATE OF entry, model, prompt_tokens, completion_tokens, cached_tokens ON usage
BEGIN UPDATE usage SET seal = NULL WHERE entry = new.entry; END;
CREATE TRIGGER mirrors_changed AFTER UPDATE OF conversation, leaf, head, bytes, sha256 ON mirrors
BEGIN UPDATE mirrors SET seal = NULL WHERE conversation = new.conversation; END;
CREATE TRIGGER knowledge_changed AFTER UPDATE OF seq, id, source, name, root, kind, category, sha256, text_sha256, chars,
    conversation, sketch ON knowledge
BEGIN UPDATE knowledge SET seal = NULL WHERE seq = new.seq; END;
CREATE TRIGGER knowledge_places_changed AFTER UPDATE OF memory, start, place, read_by ON knowledge_places
BEGIN UPDATE knowledge_places SET seal = NULL WHERE memory = new.memory AND start = new.start; END;
CREATE TRIGGER knowledge_views_changed AFTER UPDATE OF memory, number, start, length, picture, mode ON knowledge_views
BEGIN UPDATE knowledge_views SET seal = NULL WHERE memory = new.memory AND number = new.number; END;
CREATE TRIGGER knowledge_patterns_changed AFTER UPDATE OF pattern, importance ON knowledge_patterns
BEGIN UPDATE knowledge_patterns SET seal = NULL WHERE pattern = new.pattern; END;
CREATE INDEX terms_derived ON terms (entry) WHERE derived = 1;
CREATE INDEX observations_by_time ON entries (time_ms) WHERE kind = 'observation';
CREATE INDEX observations_by_conversation ON entries (conversation) WHERE kind = 'observation';
CREATE INDEX model_requests_by_time ON model_requests (time_ms);
CREATE INDEX model_requests_by_conversation ON model_requests (conversation);
CREATE INDEX sync_entries_by_segment ON sync_entries (segment);
CREATE INDEX sync_values_by_field ON sync_values (conversation, field, clock);
CREATE INDEX sync_values_by_segment ON sync_values (segment) WHERE own = 1;
CREATE INDEX sync_values_new ON sync_values (seq) WHERE clock IS NULL;
CREATE INDEX sync_notes_by_path ON sync_notes (path, clock);
CREATE INDEX sync_waiting_by_need ON sync_waiting (conversation, needs);
CREATE INDEX sync_written_by_number ON sync_written (number);
CREATE TRIGGER sync_entry_added AFTER INSERT ON entries
WHEN new.kind <> 'observation' AND EXISTS (SELECT 1 FROM sync_device)
BEGIN INSERT INTO sync_entries (entry) VALUES (new.seq); END;
CREATE TRIGGER sync_conversation_added AFTER INSERT ON conversations
WHEN new.title <> x'' AND EXISTS (SELECT 1 FROM sync_device)
BEGIN INSERT INTO sync_values (conversation, field, value) VALUES (new.seq, '', new.title); END;
CREATE TRIGGER sync_title_set AFTER UPDATE OF title ON conversations
WHEN new.title <> old.title AND EXISTS (SELECT 1 FROM sync_device)
BEGIN INSERT INTO sync_values (conversation, field, value) VALUES (new.seq, '', new.title); END;
CREATE TRIGGER sync_label_added AFTER INSERT ON labels
WHEN EXISTS (SELECT 1 FROM sync_device)
BEGIN INSERT INTO sync_values (conversation, field, value) VALUES (new.conversation, new.label, x''); END;
CREATE TRIGGER sync_label_removed AFTER DELETE ON labels
WHEN EXISTS (SELECT 1 FROM sync_device)
    AND EXISTS (SELECT 1 FROM conversations WHERE seq = old.conversation)
BEGIN INSERT INTO sync_values (conversation, field, value) VALUES (old.conversation, old.label, NULL); END;
CREATE TRIGGER sync_deletion_finished AFTER UPDATE OF finished ON deletions
WHEN new.finished = 1 AND EXISTS (SELECT 1 FROM sync_device)
BEGIN INSERT OR IGNORE INTO sync_deletions (token) VALUES (new.token); END;
CREATE TRIGGER sync_deletion_known AFTER INSERT ON deletions
WHEN new.finished = 1 AND EXISTS (SELECT 1 FROM sync_device)
BEGIN INSERT OR IGNORE INTO sync_deletions (token) VALUES (new.token); END;
CREATE TRIGGER sync_entry_gone AFTER DELETE ON sync_entries WHEN old.segment IS NOT NULL
BEGIN UPDATE sync_written SET stale = 1 WHERE number = old.segment; END;
CREATE TRIGGER sync_entry_blanked AFTER UPDATE OF sha256 ON entries WHEN old.sha256 <> new.sha256
BEGIN UPDATE sync_written SET stale = 1 WHERE number = (SELECT segment FROM sync_entries WHERE entry = new.seq); END;
CREATE TRIGGER sync_value_gone AFTER DELETE ON sync_values WHEN old.segment IS NOT NULL AND old.own = 1
BEGIN UPDATE sync_written SET stale = 1 WHERE number = old.segment; END;
CREATE TRIGGER sync_note_gone AFTER DELETE ON sync_notes WHEN old.segment IS NOT NULL AND old.own = 1
BEGIN UPDATE sync_written SET stale = 1 WHERE number = old.segment; END;
CREATE TRIGGER sync_note_taken AFTER INSERT ON sync_notes WHEN new.own = 0
BEGIN UPDATE sync_merged SET stale = 1 WHERE path = new.path; END;
CREATE TRIGGER sync_note_blanked AFTER UPDATE OF body ON sync_notes
BEGIN
    UPDATE sync_written SET stale = 1 WHERE number = old.segment AND old.own = 1;
    UPDATE sync_merged SET stale = 1 WHERE path = new.path;
END;
CREATE INDEX sync_forgotten_names_by_segment ON sync_forgotten_names (segment) WHERE own = 1;
CREATE TRIGGER sync_forgotten_name_gone AFTER DELETE ON sync_forgotten_names
WHEN old.segment IS NOT NULL AND old.own = 1
BEGIN UPDATE sync_written SET stale = 1 WHERE number = old.segment; END;
PRAGMA user_version = 17;
PRAGMA application_id = 1346456649;
COMMIT;
