import { expect, it } from "vitest";
import { ClockWatch } from "../../src/engine/clock-watch.ts";
import type { World } from "../../src/world.ts";

function watched() {
  const clock = { wall: 1_000_000, mono: 0 };
  const jumps: number[] = [];
  const world: World = {
    now: () => clock.wall,
    mono: () => clock.mono,
    sleep: (_, signal) => new Promise((resolve) => signal?.addEventListener("abort", () => resolve())),
    id: () => "x",
  };
  const watch = new ClockWatch(world, (byMs) => jumps.push(byMs));
  const pass = (wall: number, mono: number) => {
    clock.wall += wall;
    clock.mono += mono;
    watch.look();
  };
  return { pass, jumps, watch };
}

it("`ClockWatch` gives back an hour after a suspend of an hour", () => {
  const { pass, jumps, watch } = watched();
  pass(5000, 5000);
  pass(3_605_000, 5000);
  expect(jumps).toEqual([3_600_000]);
  watch.stop();
});

it("`ClockWatch` compensates a clock that is set forward or back", () => {
  const { pass, jumps, watch } = watched();
  pass(86_405_000, 5000);
  pass(-86_395_000, 5000);
  expect(jumps).toEqual([86_400_000, -86_400_000]);
  watch.stop();
});

it("`ClockWatch` gives back the time of a stopped process, but not the delay of a busy machine", () => {
  const { pass, jumps, watch } = watched();
  pass(65_000, 65_000);
  pass(12_000, 12_000);
  pass(5003, 5000);
  expect(jumps).toEqual([65_000]);
  watch.stop();
});
