import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderSchemas, storedSchemas } from "../../../../../scripts/generate-schemas.mjs";
import { ANSWERS } from "../../../src/schema/answer.ts";
import { detectProtocol } from "../../../src/protocol/canonical/detect-protocol.ts";
import { PROTOCOLS } from "../../../src/protocol/canonical/protocol-name.ts";
import { translate } from "../../../src/protocol/canonical/translate.ts";
import { WRITTEN_MESSAGES } from "../../../src/protocol/messages/message-schema.ts";
import type { Profile } from "../../../src/protocol/response/profile.ts";
import type { Draft } from "../../../src/protocol/published-schemas.ts";
import { DRAFTS, jsonSchema, PUBLISHED_SCHEMAS } from "../../../src/protocol/published-schemas.ts";
import * as delegation from "../delegation/examples.ts";
import * as response from "../examples.ts";
import * as mailbox from "../mailbox/examples.ts";
import * as messages from "../messages/examples.ts";
import { randomFrom } from "../../lab/random.ts";
import { randomMessage } from "../random-message.ts";
import { ARBITRARY_MESSAGES } from "./arbitrary-message.ts";
import { damage, damages } from "./message-damage.ts";
import { having, leniently, receivedAt, strictly } from "./member-checks.ts";
import { fits, FORMATS } from "./published-validators.ts";

type Message = Record<string, unknown>;

const kebab = (name: string) => name.toLowerCase().replaceAll("_", "-");

function nameOf(value: unknown): string {
  const found = detectProtocol(value);
  if (!found) throw new Error("No protocol has such a message");
  return `${found.protocol}/${kebab(found.kind)}`;
}

/** The delimited response has one form, because other spellings are normalised before its schema is checked. */
const looserProfile = (name: string): Profile => (name.startsWith("response/") ? "strict" : "lenient");

const EXAMPLES: Message[] = [
  ...Object.values(response),
  ...mailbox.assignmentFile.messages,
  ...mailbox.reportFile.messages,
  ...Object.values(delegation),
  ...Object.values(messages),
];
/** Examples that are complete without any input from the user. */
const WHOLE: Message[] = [
  ...Object.values(response),
  messages.acknowledgment,
  messages.completion,
  messages.rejection,
  messages.resolution,
];

describe("the published schemas", () => {
  it("match the output of the generator", () => {
    expect(Object.fromEntries(storedSchemas())).toEqual(Object.fromEntries(renderSchemas()));
  });

  it("describe every message of the four protocols in both drafts", () => {
    const wanted = [
      ...Object.keys(ANSWERS).map((phase) => `response/${kebab(phase)}`),
      "mailbox/task-assignment",
      "mailbox/completion-report",
      "mailbox/message-file",
      "mailbox/queue-file",
      "mailbox/status-file",
      "mailbox/config-file",
      "delegation/new-task",
      "delegation/attempt-completion",
      ...Object.keys(WRITTEN_MESSAGES).map((type) => `messages/${kebab(type)}`),
    ];
    expect(Object.keys(PUBLISHED_SCHEMAS)).toEqual(wanted);
    for (const name of wanted) {
      expect(jsonSchema(name, "strict", "draft-07")?.$schema).toBe("http://json-schema.org/draft-07/schema#");
      expect(jsonSchema(name, "strict", "2020-12")?.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
      expect(jsonSchema(name, looserProfile(name), "2020-12")).toBeDefined();
    }
    expect(jsonSchema("messages/toString", "strict", "2020-12")).toBeUndefined();
  });

  it("state the version of document 003 (D3-116)", () => {
    const versions = Object.keys(PUBLISHED_SCHEMAS).flatMap((name) => {
      const { $comment } = jsonSchema(name, "strict", "2020-12")!;
      return $comment === undefined ? [] : [[name.split("/")[0], $comment]];
    });
    expect(versions).toHaveLength(6);
    expect(new Set(versions.map(String))).toEqual(new Set(["messages,Protocol version 1.0.0 (2025-11-09)"]));
  });

  it("compile in a strict validator of their draft and reject values that are not messages", () => {
    for (const path of storedSchemas().keys()) {
      // The schema of a template file is not a message and has its own test.
      if (!path.includes("/")) continue;
      const [, draft, name, profile] = /^([^/]+)\/(.+)\.(strict|lenient)\.json$/.exec(path) ?? [];
      for (const value of [null, 1, "text", [], [{}]]) {
        expect(fits(name!, profile as Profile, draft as Draft, value), path).toBe(false);
      }
    }
  });

  it("express every format as a pattern too", () => {
    const formats = [...storedSchemas().values()].flatMap((text) => partsWithFormat(JSON.parse(text)));
    expect(formats.length).toBeGreaterThan(0);
    for (const part of formats) {
      expect(Object.keys(FORMATS)).toContain(part.format);
      expect(part.pattern).toMatch(/^\^.+\$$/);
    }
  });
});

describe.each(DRAFTS)("the schemas of %s", (draft) => {
  it("accept every example of the documents, unchanged or after reading", () => {
    for (const example of EXAMPLES) {
      const name = nameOf(example);
      expect(fits(name, looserProfile(name), draft, example), JSON.stringify(example)).toBe(true);
    }
    for (const example of WHOLE) expect(fits(nameOf(example), "strict", draft, example)).toBe(true);
    for (const example of [messages.chatAssignment, messages.scopeChange, delegation.newTaskShape]) {
      expect(fits(nameOf(example), "strict", draft, example)).toBe(false);
    }
    for (const file of [mailbox.assignmentFile, mailbox.reportFile, mailbox.clearedFile]) {
      expect(fits("mailbox/message-file", "strict", draft, file)).toBe(true);
    }
  });

  it("accept every message that Tutti writes, whatever it was translated from", () => {
    let written = 0;
    for (const example of EXAMPLES) {
      for (const to of PROTOCOLS) {
        const { messages: all } = translate(example, detectProtocol(example)!.protocol, to, receivedAt);
        for (const message of all) expect(fits(nameOf(message), "strict", draft, message)).toBe(true);
        written += all.length;
      }
    }
    expect(written).toBeGreaterThan(EXAMPLES.length);
  });

  it("accept the messages that the JSON repair tests use", () => {
    const random = randomFrom(7);
    for (let index = 0; index < 300; index += 1) {
      const message = randomMessage(random);
      expect(fits(`response/${kebab(message.phase)}`, "strict", draft, message)).toBe(true);
    }
  });

  it("reject an example without a required member or with a member of the wrong type", () => {
    for (const example of WHOLE) {
      const name = nameOf(example);
      for (const path of requiredPaths(jsonSchema(name, "strict", draft)!)) {
        for (const wrong of [undefined, null, { no: "type" }]) {
          // A completion's `output` has no required members, so any object is valid.
          if (path === "output" && wrong) continue;
          const damaged = having(example, path, wrong);
          expect(fits(name, "strict", draft, damaged), `${name} ${path}`).toBe(false);
        }
      }
    }
  });
});

/**
 * Rules of the readers that no JSON Schema expresses. The tests below show that the schemas contain all other rules.
 *
 * 1. A message nested more than 100 levels deep is rejected.
 * 2. A lenient reader accepts other spellings of names and words, null for a missing member, and a missing time or
 *    sender.
 * 3. A mailbox may contain messages of unknown kinds; a lenient reader keeps them.
 * 4. Contradictory members and unknown members cause a warning.
 */
describe.each(PROTOCOLS)("for any valid or damaged message of %s", (protocol) => {
  const runs = { numRuns: 400 };

  it("both drafts agree with the schemas in the code", () => {
    const verdicts = new Set<boolean>();
    fc.assert(
      fc.property(ARBITRARY_MESSAGES[protocol], damages, (message, harm) => {
        const name = nameOf(message);
        const damaged = harm.reduce(damage, structuredClone(message));
        for (const profile of ["strict", "lenient"] as const) {
          const source = PUBLISHED_SCHEMAS[name]?.[profile];
          if (!source) continue;
          const expected = source.safeParse(damaged).success;
          verdicts.add(expected);
          for (const draft of DRAFTS) expect(fits(name, profile, draft, damaged), `${name} ${profile}`).toBe(expected);
        }
      }),
      runs,
    );
    expect(verdicts.size).toBe(2);
  });

  it("they agree with the strict reader and accept the output of the lenient reader (D3-113)", () => {
    fc.assert(
      fc.property(ARBITRARY_MESSAGES[protocol], damages, (message, harm) => {
        const name = nameOf(message);
        const damaged = harm.reduce(damage, structuredClone(message));
        const read = strictly(protocol, damaged).message;
        const loosely = leniently(protocol, damaged).message;
        for (const draft of DRAFTS) {
          expect(fits(name, "strict", draft, damaged), name).toBe(read !== null);
          // A damaged message may be read as another kind, or as an unknown kind.
          if (loosely && detectProtocol(loosely) && nameOf(loosely) === name) {
            expect(fits(name, looserProfile(name), draft, loosely), name).toBe(true);
          }
        }
      }),
      runs,
    );
  });

  it("only the readers limit the nesting depth", () => {
    let deep: unknown = {};
    for (let level = 0; level < 101; level += 1) deep = { deep };
    const [message] = fc.sample(ARBITRARY_MESSAGES[protocol], { numRuns: 1, seed: 3 });
    const nested = { ...message, deep };
    expect(fits(nameOf(message), "strict", "2020-12", nested)).toBe(true);
    expect(strictly(protocol, nested)).toMatchObject({ message: null, problems: [{ code: "too_deep" }] });
  });
});

function partsWithFormat(schema: unknown): Record<string, unknown>[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = "format" in schema && typeof schema.format === "string" ? [schema as Record<string, unknown>] : [];
  return [...own, ...Object.values(schema).flatMap(partsWithFormat)];
}

/** Returns the dotted paths of required members in nested objects. */
function requiredPaths(schema: Record<string, unknown>): string[] {
  const properties = (schema.properties ?? {}) as Record<string, Record<string, unknown>>;
  const required = (schema.required ?? []) as string[];
  return required.flatMap((name) => [name, ...requiredPaths(properties[name] ?? {}).map((path) => `${name}.${path}`)]);
}
