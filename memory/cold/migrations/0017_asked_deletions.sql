-- What another device deletes, forgets or empties here waits for the user where it takes much (memory.sync.consent).
-- answer: 0 not decided yet, 1 waits, 2 refused, 3 accepted.

ALTER TABLE sync_due ADD COLUMN device TEXT NOT NULL DEFAULT '';         -- who deleted it
ALTER TABLE sync_due ADD COLUMN answer INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sync_forgotten ADD COLUMN device TEXT NOT NULL DEFAULT '';   -- who forgot it
ALTER TABLE sync_forgotten ADD COLUMN answer INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sync_merged ADD COLUMN held_by TEXT NOT NULL DEFAULT '';     -- whose versions wait, '' for none
ALTER TABLE sync_merged ADD COLUMN held_lines INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sync_device ADD COLUMN recipient TEXT NOT NULL DEFAULT '';   -- the public key that it last wrote with

CREATE TABLE sync_unasked (                -- what was taken without a question lately, of all devices together
    taken_ms INTEGER NOT NULL,
    entries  INTEGER NOT NULL              -- entries or lines of notes
) STRICT;
