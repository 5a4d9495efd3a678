// A `HostedServerRequest` asks the process that has the engine of a data folder for a server. It goes through the Unix
// socket of that process and is no part of the API.
import { z } from "zod";

/** `POST` to `DASHBOARD_PATH` opens the dashboard, for as long as the process works. */
export const DASHBOARD_PATH = "/dashboard";
/**
 * `POST` to `SERVER_PATH` opens a server for as long as the connection lasts. Its client opens the engine when the
 * process ends.
 */
export const SERVER_PATH = "/server";

export const HostedServerRequest = z.strictObject({
  host: z.string(),
  port: z.int().min(0).max(65_535),
  orFreePort: z.boolean().optional(),
  token: z.string().optional(),
  rateLimit: z.object({ perMinute: z.number() }).optional(),
  folders: z.array(z.string()).optional(),
  retainDays: z.number().optional(),
});
export type HostedServerRequest = z.infer<typeof HostedServerRequest>;

export const HostedServer = z.object({
  url: z.string(),
  /** Signs a browser in with the token. */
  openUrl: z.string(),
});
export type HostedServer = z.infer<typeof HostedServer>;
