import { appendEvents } from "./004-append-events.ts";

// `append_events` is called without a transaction of its own, so the function makes the commit after it durable, whatever
// the default of the database.
export const durableAppend = appendEvents
  .replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
  .replace("  BEGIN\n", "  BEGIN\n    PERFORM set_config('synchronous_commit', 'on', true);\n");
