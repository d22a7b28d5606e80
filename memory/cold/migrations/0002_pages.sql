-- The life of pages: packs at rest, pages of two cell sizes, passages stored once. Only adds: what schema 1 held stands.

ALTER TABLE packs ADD COLUMN kind TEXT NOT NULL DEFAULT 'warm';     -- warm | cold (at rest, packed tighter)

ALTER TABLE archives ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;  -- 1: what is old passes it over
ALTER TABLE archives ADD COLUMN bare INTEGER NOT NULL DEFAULT 0;    -- 1: no entry stands on its pages; it is kept for itself
ALTER TABLE archives ADD COLUMN conversation INTEGER REFERENCES conversations (seq) ON DELETE SET NULL;  -- whose it is
CREATE INDEX archives_by_conversation ON archives (conversation);

ALTER TABLE pages ADD COLUMN cell TEXT NOT NULL DEFAULT '8x16';
ALTER TABLE pages ADD COLUMN factsheet TEXT NOT NULL DEFAULT '[]';  -- its exact tokens: a JSON list of strings, in ASCII
CREATE INDEX pages_by_pack ON pages (pack);

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
CREATE INDEX archive_pages_by_page ON archive_pages (page);

CREATE TABLE passages (                    -- where a passage stands, so that it is drawn once
    hash       BLOB NOT NULL,              -- of its text
    part       INTEGER NOT NULL,           -- from 0: a passage may go on on the next page
    page       TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    page_start INTEGER NOT NULL,           -- characters within the page's text
    length     INTEGER NOT NULL,
    PRIMARY KEY (hash, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX passages_by_page ON passages (page);

CREATE TABLE leaving (                     -- files beside the packs that are to be deleted
    name  TEXT PRIMARY KEY,
    owner TEXT NOT NULL                    -- '': as soon as nobody reads it; else once that process has ended
) STRICT, WITHOUT ROWID;

INSERT INTO archive_pages (archive, number, page) SELECT archive, number, id FROM pages;
UPDATE archives SET conversation = (
    SELECT e.conversation FROM pages p JOIN spans s ON s.page = p.id JOIN entries e ON e.seq = s.entry
    WHERE p.archive = archives.seq LIMIT 1
);
UPDATE archives SET bare = 1 WHERE conversation IS NULL;
