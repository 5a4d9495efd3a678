// `append_events` is a whole append in one exchange, for a server that has read everything up to `p_seq` and knows the
// positions of its runs. It raises `STALE_APPEND` if something else is true now; then `lock_log` shows the state. Other
// servers are notified only if there are any, because all commits with a notification wait for each other.

/** The code of the exception of `append_events`. */
export const STALE_APPEND = "TU010";

export const appendEvents = `
  CREATE FUNCTION tutti.append_events(
    p_server text, p_epoch bigint, p_batch bigint, p_seq bigint, p_channel text, p_payload text,
    p_runs text[], p_expected bigint[], p_last bigint[],
    e_seq bigint[], e_run text[], e_run_seq bigint[], e_type text[], e_data text[], e_at bigint[], e_version integer[])
  RETURNS void LANGUAGE plpgsql AS $function$
  DECLARE log_seq bigint;
  BEGIN
    SELECT l.seq INTO log_seq FROM tutti.log l FOR UPDATE;
    IF log_seq <> p_seq OR (SELECT s.epoch FROM tutti.servers s WHERE s.id = p_server) IS DISTINCT FROM p_epoch
       OR EXISTS (SELECT 1 FROM unnest(p_runs, p_expected) AS w (run, last) LEFT JOIN tutti.runs r ON r.run = w.run
                   WHERE coalesce(r.last, 0) <> w.last OR coalesce(r.server, p_server) <> p_server) THEN
      RAISE EXCEPTION 'The state is not known.' USING ERRCODE = '${STALE_APPEND}';
    END IF;
    INSERT INTO tutti.events (seq, run, run_seq, type, data, at, version)
      SELECT * FROM unnest(e_seq, e_run, e_run_seq, e_type, e_data, e_at, e_version);
    INSERT INTO tutti.runs (run, last, server)
      SELECT w.run, w.last, p_server FROM unnest(p_runs, p_last) AS w (run, last)
      ON CONFLICT (run) DO UPDATE SET last = excluded.last;
    UPDATE tutti.servers SET batch = p_batch WHERE id = p_server;
    UPDATE tutti.log SET seq = p_seq + cardinality(e_seq);
    IF EXISTS (SELECT 1 FROM tutti.servers s WHERE s.id <> p_server AND s.beat > 0) THEN
      PERFORM pg_notify(p_channel, p_payload);
    END IF;
  END $function$;
`;
