-- A hash of each row that is given out and is no entry, which has its own: a title, a label, where in a file a passage
-- stands, an epoch's head. Whatever changes such a row empties its seal, and the writer fills it before the commit; so a
-- bit that flips on the disk is the only change that leaves a seal behind which is not the row's.

ALTER TABLE conversations ADD COLUMN seal BLOB;
ALTER TABLE labels ADD COLUMN seal BLOB;
ALTER TABLE archives ADD COLUMN seal BLOB;
ALTER TABLE chunks ADD COLUMN seal BLOB;
ALTER TABLE epochs ADD COLUMN seal BLOB;
ALTER TABLE requests ADD COLUMN seal BLOB;
ALTER TABLE usage ADD COLUMN seal BLOB;
ALTER TABLE mirrors ADD COLUMN seal BLOB;
ALTER TABLE knowledge ADD COLUMN seal BLOB;
ALTER TABLE knowledge_places ADD COLUMN seal BLOB;
ALTER TABLE knowledge_views ADD COLUMN seal BLOB;
ALTER TABLE knowledge_patterns ADD COLUMN seal BLOB;

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
