// `lock_log` locks the row of the log and then reads the state for an append, in one exchange. Each statement of the
// function has a snapshot of its own, so the second one sees everything that was committed before the lock.
export const lockLog = `
  CREATE FUNCTION tutti.lock_log(p_server text, p_runs text[])
  RETURNS TABLE (seq bigint, epoch bigint, batch bigint, removals bigint, runs json) LANGUAGE plpgsql AS $function$
  BEGIN
    PERFORM 1 FROM tutti.log FOR UPDATE;
    RETURN QUERY SELECT l.seq, s.epoch, s.batch, (SELECT coalesce(max(n), 0) FROM tutti.removals),
        (SELECT coalesce(json_agg(r), '[]') FROM tutti.runs r WHERE r.run = ANY (p_runs))
      FROM tutti.log l LEFT JOIN tutti.servers s ON s.id = p_server;
  END $function$;
`;
