// The event schema version of each row. Rows older than this column have version 1.
export const versions = `ALTER TABLE events ADD COLUMN version INTEGER NOT NULL DEFAULT 1`;
