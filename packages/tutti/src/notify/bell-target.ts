// The terminal of a server as a target. It hears only of what happens while it is there.
import type { Target } from "./target.ts";

export const bellTarget = (ring: () => void): Target => ({
  name: "bell",
  key: null,
  sums: true,
  async tell() {
    ring();
    return { ok: true, detail: "it rang" };
  },
});
