// `bellTarget` is the terminal bell of a server. `key` is null, so it rings only for events that happen while the
// server runs.
import type { NotificationTarget } from "./target.ts";

export const bellTarget = (ring: () => void): NotificationTarget => ({
  name: "bell",
  key: null,
  combines: true,
  async deliver() {
    ring();
    return { ok: true, detail: "rang" };
  },
});
