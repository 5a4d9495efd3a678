import { z } from "zod";

/** An ISO 8601 timestamp with a time zone. */
export const Timestamp = z.iso.datetime({ offset: true });
