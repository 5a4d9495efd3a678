// How many workers may be started: over the whole server, for one agent, and in the memory that is left.
import { expect, it } from "vitest";
import { Slots } from "../../src/engine/slots.ts";

it("free places are what is left of the server's, of the agent's, and of the memory", () => {
  const since = 0;
  const active = ["claude", "claude", "command:my-agent --fast"].map((agent) => ({ agent, since }));
  let memory = 1000;
  const slots = new Slots(
    { maxWorkers: 8, perAgent: { claude: 3, command: 1 }, memoryPerWorker: 100, freeMemory: () => memory },
    () => active,
    () => 100_000,
  );
  expect(slots.free("claude")).toBe(1);
  expect(slots.free("command:another")).toBe(0);
  expect(slots.free("codex")).toBe(5);
  memory = 250;
  expect(slots.free("codex")).toBe(2);
  slots.reserve("codex", 2);
  expect(slots.free("local"), "what is about to start will need its memory too").toBe(0);
  memory = 1000;
  slots.reserve("claude", 1);
  expect(slots.free("claude")).toBe(0);
  slots.release("claude", 1);
  slots.release("codex", 2);
  expect(slots.free("claude")).toBe(1);
});

it("with no memory left nothing more is started, but one worker where none runs: waiting would not make room", () => {
  const active: { agent: string; since: number }[] = [];
  const slots = new Slots(
    { maxWorkers: 8, memoryPerWorker: 100, freeMemory: () => 10 },
    () => active,
    () => 0,
  );
  expect(slots.free("local")).toBe(1);
  active.push({ agent: "local", since: 0 });
  expect(slots.free("local")).toBe(0);
});

it("a worker that has just started has not taken its memory yet, and is counted with it", () => {
  let now = 0;
  const slots = new Slots(
    { maxWorkers: 8, memoryPerWorker: 100, freeMemory: () => 250 },
    () => [{ agent: "local", since: 0 }],
    () => now,
  );
  expect(slots.free("local")).toBe(1);
  now = 60_000;
  expect(slots.free("local")).toBe(2);
});
