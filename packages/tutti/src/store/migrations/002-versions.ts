// Which version of the vocabulary an event was written in; everything before this column was version 1.
export const versions = `ALTER TABLE events ADD COLUMN version INTEGER NOT NULL DEFAULT 1`;
