import { describe, expect, it } from "vitest";
import { VirtualFleet } from "./virtual-fleet.ts";

describe("a fleet of 1,000 hosts in virtual time", () => {
  it("completes 8,000 tasks of 200 runs once each while hosts die, are cut off and report late", () => {
    const figures = new VirtualFleet({
      hosts: 1000,
      capacity: 4,
      runs: 200,
      tasksPerRun: 40,
      leaseMs: 30_000,
      taskMs: 10 * 60_000,
      hostLifeMs: 4 * 3_600_000,
      seed: "scale",
    }).run();
    expect(figures).toMatchObject({ completed: 8000, doubled: 0 });
    expect(figures.lost).toBeGreaterThan(0);
    expect(figures.late).toBeGreaterThan(0);
    expect(figures.attempts).toBe(8000 + figures.lost);
    expect(figures.mostAtOnce).toBe(4000);
    expect(figures.events / figures.attempts).toBeLessThan(8);
  });
});
