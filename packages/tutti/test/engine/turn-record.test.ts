import { expect, test } from "vitest";
import { expectLinear } from "../lab/growth.ts";
import { TurnRecord } from "../../src/engine/sessions/turn-record.ts";
import { DEFAULT_DELIMITERS } from "../../src/protocol/response/response-scanner.ts";

test("`wholeText` of a turn is the end of its text, however much the agent writes", () => {
  const record = new TurnRecord(DEFAULT_DELIMITERS, true);
  for (let part = 0; part < 500; part++) record.text(`${part} `.padEnd(10_000, "x"), false);
  expect(record.wholeText.length).toBeLessThanOrEqual(2 * 1024 * 1024);
  expect(record.wholeText).toMatch(/499 x+$/);
  expect(record.isCut).toBe(true);
});

test("a turn of very many short messages costs no more for each of them", () => {
  // The text has its full length after two thirds of the messages.
  expectLinear((messages) => {
    const record = new TurnRecord(DEFAULT_DELIMITERS, true);
    for (let message = 0; message < messages; message++) record.text("y".repeat(15), true);
    expect(record.wholeText).toHaveLength(Math.min(16 * messages, 2 * 1024 * 1024));
  }, 200_000);
});

test("`lastWords` of a turn have no part of a block that is still open, however much of it has arrived", () => {
  const record = new TurnRecord(DEFAULT_DELIMITERS);
  record.text("I read the tests.\n", false);
  record.text(`${DEFAULT_DELIMITERS.delimiterStart}\n{"phase":"progress","data":{"current_action":"`, false);
  for (let part = 0; part < 60; part++) record.text("reading ".repeat(10), false);
  expect(record.lastWords).toBe("I read the tests.");
  record.text(`"}}\n${DEFAULT_DELIMITERS.delimiterEnd}\nNow I write.`, true);
  expect(record.lastWords).toMatch(/^I read the tests\.\s+Now I write\.$/);
});
