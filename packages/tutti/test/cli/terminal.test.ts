import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Lab } from "../lab/lab.ts";
import { goodWorker, mainSession, worker } from "../lab/scenarios.ts";
import { onTerminal } from "../lab/terminal.ts";

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => {
  vi.unstubAllEnvs();
  lab.tearDown();
});

describe("a run on a terminal", () => {
  it("is drawn in place, without colours under NO_COLOR; Ctrl-C exits with 130 and restores the terminal", async () => {
    vi.stubEnv("NO_COLOR", "1");
    const sessions = [
      ...mainSession([{ id: "quick" }, { id: "slow", dependencies: ["quick"] }]),
      worker("slow", { then: "hang" }),
      goodWorker,
    ];
    const agent = lab.scenario(sessions);
    const child = onTerminal(["--data-dir", lab.data, "run", "x", "--yes", "--cwd", lab.repo, "--agent", agent]);
    let shown = "";
    let typed = false;
    child.stdout.on("data", (text: string) => {
      shown += text;
      if (typed || !shown.includes("└ ▶ slow")) return;
      typed = true;
      child.stdin.write("\u0003");
    });
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(130);
    expect(shown).toMatch(/working {2}1\/2 tasks .*critical path: 1 left/);
    expect(shown).toContain("✔ quick  Title of quick");
    expect(shown.slice(shown.lastIndexOf("Stopped. Continue with"))).toMatch(
      /^Stopped\. Continue with: tutti attach orch_\w+\r\n$/,
    );
    expect(shown.lastIndexOf("\u001b[?25h")).toBeGreaterThan(shown.lastIndexOf("\u001b[?25l"));
    // Every drawing is one synchronized update, and none has colours.
    expect(shown.split("\u001b[?2026h")).toHaveLength(shown.split("\u001b[?2026l").length);
    expect(shown.replaceAll("\u001b", "ESC")).not.toMatch(/ESC\[\d*m/);
    // A clean-up that takes long does not delay the end of the command.
    await expect.poll(() => lab.leftovers().filter((left) => left.startsWith("process"))).toEqual([]);
  });
});
