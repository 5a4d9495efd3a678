import { z } from "zod";

/** `Timestamp` is ISO 8601 with a time zone. */
export const Timestamp = z.iso.datetime({ offset: true });
