// `made_at` lets a server delete requests that no sender waits for any more.
export const requestAge = "ALTER TABLE tutti.requests ADD COLUMN made_at timestamptz NOT NULL DEFAULT now()";
