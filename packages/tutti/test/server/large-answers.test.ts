import { expect, it } from "vitest";
import { LargeAnswers } from "../../src/server/large-answers.ts";

const { signal } = new AbortController();

it("`LargeAnswers` pauses after 2 MiB of answers, so that the memory of many small ones can be collected", async () => {
  const answers = new LargeAnswers();
  const builtAt: number[] = [];
  const build = (bytes: number) =>
    answers.build((count) => {
      count(bytes);
      builtAt.push(performance.now());
    }, signal);
  await Promise.all([1024 * 1024, 1024 * 1024, 0].map(build));
  // A timer of 40 ms may fire a little early.
  expect(builtAt[2]! - builtAt[1]!).toBeGreaterThan(35);
});

it("`LargeAnswers` builds nothing for a client that is gone, and continues after an answer that fails", async () => {
  const answers = new LargeAnswers();
  const failed = answers.build(() => Promise.reject(new Error("no such run")), signal);
  const gone = answers.build(() => "answer", AbortSignal.abort());
  const last = answers.build(() => "answer", signal);
  await expect(failed).rejects.toThrow("no such run");
  expect(await gone).toBeNull();
  expect(await last).toBe("answer");
});
