import { describe, expect, it } from "vitest";
import { Slots, type Asker } from "../../src/engine/slots.ts";
import { providerOf } from "../../src/run/provider/provider-name.ts";

const of = (agent: string): Asker => ({ agent, provider: providerOf(agent, { mine: "acp:gemini" }) });

it("`free` is the minimum of the server's limit, the agent's limit and the free memory", () => {
  const since = 0;
  const active = ["claude", "claude", "command:my-agent --fast"].map((agent) => ({ ...of(agent), since }));
  const [claude, codex] = [of("claude"), of("codex")];
  let memory = 1000;
  const slots = new Slots(
    { maxWorkers: 8, perAgent: { claude: 3, command: 1 }, memoryPerWorker: 100, freeMemory: () => memory },
    () => active,
    () => 100_000,
  );
  expect(slots.free(of("claude"))).toBe(1);
  expect(slots.free(of("command:another"))).toBe(0);
  expect(slots.free(of("codex"))).toBe(5);
  memory = 250;
  expect(slots.free(of("codex"))).toBe(2);
  const releases = [slots.reserve(codex), slots.reserve(codex)];
  expect(slots.free(of("local")), "what is about to start will need its memory too").toBe(0);
  memory = 1000;
  const release = slots.reserve(claude);
  expect(slots.free(of("claude"))).toBe(0);
  for (const each of [release, ...releases]) each();
  expect(slots.free(of("claude"))).toBe(1);
});

it("`free` is 0 without free memory, but 1 if no worker runs", () => {
  const active: (Asker & { since: number })[] = [];
  const slots = new Slots(
    { maxWorkers: 8, memoryPerWorker: 100, freeMemory: () => 10 },
    () => active,
    () => 0,
  );
  expect(slots.free(of("local"))).toBe(1);
  active.push({ ...of("local"), since: 0 });
  expect(slots.free(of("local"))).toBe(0);
});

it("`free` subtracts the memory that a young worker has not allocated yet", () => {
  let now = 0;
  const slots = new Slots(
    { maxWorkers: 8, memoryPerWorker: 100, freeMemory: () => 250 },
    () => [{ ...of("local"), since: 0 }],
    () => now,
  );
  expect(slots.free(of("local"))).toBe(1);
  now = 60_000;
  expect(slots.free(of("local"))).toBe(2);
});

describe("a provider that refuses one run", () => {
  const UNTIL = 100_000;
  const NEWS_LAST = 600_000;

  function refusing(...agents: string[]) {
    const state = { now: 0, until: UNTIL as number | null, agents, mains: [] as string[] };
    const slots = new Slots(
      { maxWorkers: 8 },
      () => state.agents.map((agent) => ({ ...of(agent), since: 0 })),
      () => state.now,
      (provider) => (provider === "acp:gemini" ? state.until : null),
      () => state.mains.map((agent) => of(agent).provider),
    );
    return { state, slots };
  }

  it("admits no session of any run until its refusal ends, whatever the agent's name", () => {
    const { slots, state } = refusing();
    for (const agent of ["acp:gemini", "acp:/usr/bin/gemini --acp", "mine"]) {
      expect(slots.free(of(agent))).toBe(0);
      expect(slots.opensAt(of(agent))).toBe(UNTIL);
    }
    state.now = UNTIL - 1;
    expect(slots.free(of("acp:gemini"))).toBe(0);
  });

  it("does not block sessions of other providers", () => {
    const { slots } = refusing("acp:gemini");
    expect(slots.free(of("acp:other"))).toBe(7);
    expect(slots.opensAt(of("acp:other"))).toBeNull();
  });

  it("admits one session as a probe when its refusal ends", () => {
    const { slots, state } = refusing("claude");
    state.now = UNTIL;
    expect(slots.free(of("acp:gemini"))).toBe(1);
    expect(slots.opensAt(of("acp:gemini")), "it may begin now").toBeNull();
    const gemini = of("acp:gemini");
    const release = slots.reserve(gemini);
    expect(slots.free(of("acp:gemini"))).toBe(0);
    expect(slots.opensAt(of("acp:gemini"))).toBe(UNTIL + NEWS_LAST);
    release();
    state.agents.push("acp:gemini --acp");
    expect(slots.free(of("acp:gemini"))).toBe(0);
    expect(slots.opensAt(of("acp:gemini"))).toBe(UNTIL + NEWS_LAST);
  });

  it("counts a starting or active main session as the probe", () => {
    const { slots, state } = refusing();
    state.now = UNTIL;
    const letGo = slots.holdMain(of("acp:gemini"));
    expect(slots.opensAt(of("acp:gemini --acp"))).toBe(UNTIL + NEWS_LAST);
    expect(slots.free(of("acp:gemini"))).toBe(0);
    state.mains.push("acp:/usr/bin/gemini");
    letGo();
    expect(slots.opensAt(of("acp:gemini --acp"))).toBe(UNTIL + NEWS_LAST);
    expect(slots.opensAt(of("claude"))).toBeNull();
    state.mains.pop();
    expect(slots.opensAt(of("acp:gemini --acp"))).toBeNull();
    slots.holdMain(of("claude"));
    expect(slots.free(of("claude")), "it takes no worker's place").toBe(8);
  });

  it("admits all sessions after an answer, or when its refusal has expired", () => {
    const { slots, state } = refusing("acp:gemini");
    state.now = UNTIL + NEWS_LAST - 1;
    expect(slots.free(of("acp:gemini"))).toBe(0);
    state.now = UNTIL + NEWS_LAST;
    expect(slots.free(of("acp:gemini"))).toBe(7);
    expect(slots.opensAt(of("acp:gemini"))).toBeNull();
    state.now = UNTIL;
    state.until = null;
    expect(slots.free(of("acp:gemini"))).toBe(7);
    expect(slots.opensAt(of("acp:gemini"))).toBeNull();
  });
});
