-- Titles and labels that were forgotten on any device: a value whose writer had not heard of it never holds again. Of each
-- title and label only the value that holds is kept.

ALTER TABLE sync_values ADD COLUMN heard BLOB NOT NULL DEFAULT x'';  -- the forgettings that its writer knew

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
CREATE INDEX sync_forgotten_names_by_segment ON sync_forgotten_names (segment) WHERE own = 1;

CREATE TRIGGER sync_forgotten_name_gone AFTER DELETE ON sync_forgotten_names
WHEN old.segment IS NOT NULL AND old.own = 1
BEGIN UPDATE sync_written SET stale = 1 WHERE number = old.segment; END;

DELETE FROM sync_values AS old WHERE EXISTS (
    SELECT 1 FROM sync_values new
    WHERE new.conversation = old.conversation AND new.field = old.field AND new.seq <> old.seq
    AND (new.clock, new.device, new.value IS NOT NULL, ifnull(new.value, x''), new.seq)
        > (old.clock, old.device, old.value IS NOT NULL, ifnull(old.value, x''), old.seq));

-- A title that came from another device was not written into the conversation's mirror.
UPDATE mirrors SET head = x'' WHERE conversation IN (
    SELECT c.seq FROM sync_values v JOIN conversations c ON c.seq = v.conversation
    WHERE v.own = 0 AND v.field = '' AND instr(mirrors.head, c.title) = 0);
