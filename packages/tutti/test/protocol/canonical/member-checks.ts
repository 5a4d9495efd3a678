// Checks of single members, shared by the tests of all protocols.
import { expect } from "vitest";
import type { Protocol } from "../../../src/protocol/canonical/protocol-name.ts";
import { readMessage } from "../../../src/protocol/canonical/read-message.ts";
import type { ProfileProblem } from "../../../src/protocol/response/profile.ts";

type Message = Record<string, unknown>;

export const receivedAt = "2026-02-03T04:05:06.000Z";
export const strictly = (protocol: Protocol, value: unknown) =>
  readMessage(protocol, value, { profile: "strict", receivedAt });
export const leniently = (protocol: Protocol, value: unknown) =>
  readMessage(protocol, value, { profile: "lenient", receivedAt });

const errorsOf = (problems: ProfileProblem[]) => problems.filter(({ severity }) => severity === "error");
export const warningsOf = (problems: ProfileProblem[]) => problems.filter(({ severity }) => severity === "warning");

/** Returns a copy with the member at the dotted path set, or removed if `value` is undefined. */
export function having(message: Message, path: string, value: unknown): Message {
  const [first = "", ...rest] = path.split(".");
  const copy: Message = Array.isArray(message) ? Object.assign([], message) : { ...message };
  if (rest.length > 0) copy[first] = having(copy[first] as Message, rest.join("."), value);
  else if (value === undefined) delete copy[first];
  else copy[first] = value;
  return copy;
}

const inBrackets = (path: string) => path.replaceAll(/\.(\d+)/g, "[$1]");

/** Under `strict`, every good value is accepted and kept, and every bad value is rejected at exactly this path. */
export function member(protocol: Protocol, message: Message, path: string, good: unknown[], bad: unknown[]): void {
  for (const value of good) {
    const changed = having(message, path, value);
    expect(strictly(protocol, changed).message, `${path}: ${JSON.stringify(value)}`).toEqual(changed);
  }
  for (const value of bad) {
    const { message: read, problems } = strictly(protocol, having(message, path, value));
    expect(read, `${path}: ${JSON.stringify(value)}`).toBeNull();
    expect(errorsOf(problems).every((each) => each.path.startsWith(inBrackets(path)))).toBe(true);
    expect(errorsOf(problems).every(({ sentence }) => /^".+\.$/.test(sentence))).toBe(true);
  }
}

/** Like `member`, for a member that `strict` requires. */
export function required(protocol: Protocol, message: Message, path: string, good: unknown[], bad: unknown[]): void {
  const { message: read, problems } = strictly(protocol, having(message, path, undefined));
  expect(read, path).toBeNull();
  expect(errorsOf(problems)).toEqual([expect.objectContaining({ path: inBrackets(path), code: "missing" })]);
  member(protocol, message, path, good, bad);
}

/** Like `member`, for a member that may be omitted under `strict`. */
export function optional(protocol: Protocol, message: Message, path: string, good: unknown[], bad: unknown[]): void {
  expect(strictly(protocol, having(message, path, undefined)).message, path).not.toBeNull();
  member(protocol, message, path, good, bad);
}

/** Values that are neither a text nor a list of texts. */
export const noText = [1, true, ["a"], {}];
export const noTexts = ["a", 1, {}, [1], [null]];
/** Timestamps in the form of the documents, and values that only resemble them. */
export const moments = ["2024-01-01T00:00:00.000Z", "2025-11-09T21:00:00Z"];
export const noMoment = ["yesterday", "2024-01-01", "2024-13-01T00:00:00Z", "", 1704067200000];
