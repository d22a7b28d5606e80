-- Which note files are to be put together anew: those of which a version of another device was taken since. Their heads
-- alone do not tell: a version that arrives after the ones that were made of it is no head, and is what these are merged by.

ALTER TABLE sync_merged ADD COLUMN stale INTEGER NOT NULL DEFAULT 1;

CREATE TRIGGER sync_note_taken AFTER INSERT ON sync_notes WHEN new.own = 0
BEGIN UPDATE sync_merged SET stale = 1 WHERE path = new.path; END;
