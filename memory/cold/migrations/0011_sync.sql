-- What other devices of this workspace's owner get, and what was read of theirs. Nothing is recorded before a location
-- is added: each trigger looks for the row of this device. No writing code can forget to record a change.

CREATE TABLE sync_device (                 -- this device, once a location was added
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    id      TEXT NOT NULL,                 -- 'd_…'
    name    TEXT NOT NULL,
    clock   INTEGER NOT NULL,              -- the highest hybrid clock that was given or seen (memory.sync.clock)
    segment INTEGER NOT NULL DEFAULT 0     -- the last segment's number
) STRICT;

CREATE TABLE sync_devices (                -- the others, by what they wrote
    id      TEXT PRIMARY KEY,
    name    TEXT NOT NULL,
    read_ms INTEGER NOT NULL               -- when something new of it was last read
) STRICT, WITHOUT ROWID;

CREATE TABLE sync_entries (                -- entries made here; segment: NULL until it is written
    entry   INTEGER PRIMARY KEY REFERENCES entries (seq) ON DELETE CASCADE,
    segment INTEGER
) STRICT;
CREATE INDEX sync_entries_by_segment ON sync_entries (segment);

CREATE TABLE sync_values (                 -- each title and label that was set on any device; the highest clock holds
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL REFERENCES conversations (seq) ON DELETE CASCADE,
    field        TEXT NOT NULL,            -- '' is the title; else a label
    value        BLOB,                     -- the title, or x'' for a label; NULL: the label was taken away
    clock        INTEGER,                  -- NULL until the commit
    device       TEXT NOT NULL DEFAULT '',
    own          INTEGER NOT NULL DEFAULT 1,
    segment      INTEGER
) STRICT;
CREATE INDEX sync_values_by_field ON sync_values (conversation, field, clock);
CREATE INDEX sync_values_by_segment ON sync_values (segment) WHERE own = 1;
CREATE INDEX sync_values_new ON sync_values (seq) WHERE clock IS NULL;

CREATE TABLE sync_deletions (              -- deletions that were finished here
    token   TEXT PRIMARY KEY REFERENCES deletions (token) ON DELETE CASCADE,
    segment INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE sync_forgotten (              -- tombstones of forgotten entries, of this device and of others
    token        TEXT PRIMARY KEY,         -- the hash of the entry's name
    forgotten_ms INTEGER NOT NULL,
    own          INTEGER NOT NULL DEFAULT 1,
    segment      INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE sync_notes (                  -- each version of a note file that was made on any device
    id      TEXT PRIMARY KEY,              -- SHA-256 of all the rest but own and segment
    path    TEXT NOT NULL,
    parents TEXT NOT NULL,                 -- ids of the versions that it was made from: a JSON list
    body    BLOB NOT NULL,                 -- zstd; of an empty text where the file was deleted
    clock   INTEGER NOT NULL,
    device  TEXT NOT NULL,
    own     INTEGER NOT NULL DEFAULT 1,
    segment INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sync_notes_by_path ON sync_notes (path, clock);

CREATE TABLE sync_merged (                 -- what a note file held here when its versions were last put together
    path   TEXT PRIMARY KEY,
    heads  TEXT NOT NULL,                  -- ids of the versions: a JSON list
    sha256 BLOB NOT NULL                   -- of the text
) STRICT, WITHOUT ROWID;

CREATE TABLE sync_waiting (                -- operations of others that need an entry which was not read yet
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL REFERENCES conversations (seq) ON DELETE CASCADE,
    id           TEXT NOT NULL,
    needs        TEXT NOT NULL,            -- the entry's id
    operation    BLOB NOT NULL,
    UNIQUE (conversation, id)
) STRICT;
CREATE INDEX sync_waiting_by_need ON sync_waiting (conversation, needs);

CREATE TABLE sync_due (                    -- deletions of others that are still to be made here
    token      TEXT PRIMARY KEY,
    deleted_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sync_written (                -- own segments at each location
    location TEXT NOT NULL,
    name     TEXT NOT NULL,
    number   INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    stale    INTEGER NOT NULL DEFAULT 0,   -- 1: something in it was deleted since, or added
    current  INTEGER NOT NULL DEFAULT 1,   -- 0: another took its place
    PRIMARY KEY (location, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX sync_written_by_number ON sync_written (number);

CREATE TABLE sync_read (                   -- segments of others, and why one could not be read
    location TEXT NOT NULL,
    name     TEXT NOT NULL,
    problem  TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (location, name)
) STRICT, WITHOUT ROWID;

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
