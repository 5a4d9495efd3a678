import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderSchemas, storedSchemas } from "../../../../../scripts/generate-schemas.mjs";
import { ANSWERS } from "../../../src/schema/answer.ts";
import { detectProtocol } from "../../../src/protocol/canonical/detect-protocol.ts";
import { PROTOCOLS } from "../../../src/protocol/canonical/protocol-name.ts";
import { translate } from "../../../src/protocol/canonical/translate.ts";
import { WRITTEN_MESSAGES } from "../../../src/protocol/messages/message-schema.ts";
import type { Profile } from "../../../src/protocol/profile.ts";
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

/** The name under which the schema of this message is published. */
function nameOf(value: unknown): string {
  const found = detectProtocol(value);
  if (!found) throw new Error("No protocol has such a message");
  return `${found.protocol}/${kebab(found.kind)}`;
}

/** The delimited response has one form, since other spellings of it are read before its schema is asked. */
const looserProfile = (name: string): Profile => (name.startsWith("response/") ? "strict" : "lenient");

const EXAMPLES: Message[] = [
  ...Object.values(response),
  ...mailbox.assignmentFile.messages,
  ...mailbox.reportFile.messages,
  ...Object.values(delegation),
  ...Object.values(messages),
];
/** Those that leave nothing open and nothing to be filled in by a person. */
const WHOLE: Message[] = [
  ...Object.values(response),
  messages.acknowledgment,
  messages.completion,
  messages.rejection,
  messages.resolution,
];

describe("the published schemas", () => {
  it("are what the generator makes of the sources", () => {
    expect(Object.fromEntries(storedSchemas())).toEqual(Object.fromEntries(renderSchemas()));
  });

  it("describe every message of the four protocols, in both drafts", () => {
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

  it("are accepted by a strict validator of their draft, and refuse what is no message", () => {
    for (const path of storedSchemas().keys()) {
      // The schema of a template file is no message, and has a test of its own.
      if (!path.includes("/")) continue;
      const [, draft, name, profile] = /^([^/]+)\/(.+)\.(strict|lenient)\.json$/.exec(path) ?? [];
      for (const value of [null, 1, "text", [], [{}]]) {
        expect(fits(name!, profile as Profile, draft as Draft, value), path).toBe(false);
      }
    }
  });

  it("say with a pattern what a format would only remark", () => {
    const formats = [...storedSchemas().values()].flatMap((text) => partsWithFormat(JSON.parse(text)));
    expect(formats.length).toBeGreaterThan(0);
    for (const part of formats) {
      expect(Object.keys(FORMATS)).toContain(part.format);
      expect(part.pattern).toMatch(/^\^.+\$$/);
    }
  });
});

describe.each(DRAFTS)("the schemas of %s", (draft) => {
  it("accept every example of the documents, as it is or once it is read", () => {
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

  it("accept what we write, whatever it was translated from", () => {
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

  it("accept the messages on which the repair of JSON is tried", () => {
    const random = randomFrom(7);
    for (let index = 0; index < 300; index += 1) {
      const message = randomMessage(random);
      expect(fits(`response/${kebab(message.phase)}`, "strict", draft, message)).toBe(true);
    }
  });

  it("refuse an example that lacks any of its required members, or has one of no known type", () => {
    for (const example of WHOLE) {
      const name = nameOf(example);
      for (const path of requiredPaths(jsonSchema(name, "strict", draft)!)) {
        for (const wrong of [undefined, null, { no: "type" }]) {
          // Nothing in a completion's output is required, so any object will do.
          if (path === "output" && wrong) continue;
          const damaged = having(example, path, wrong);
          expect(fits(name, "strict", draft, damaged), `${name} ${path}`).toBe(false);
        }
      }
    }
  });
});

/**
 * What our readers know and no JSON Schema says. Everything else they decide is in the schemas, as the next tests show:
 *
 * 1. A message nested more than 100 deep is refused.
 * 2. A lenient reader takes other spellings of names and words, null for a missing member, and a missing time or sender.
 * 3. A mailbox may hold messages of kinds that no document knows; a lenient reader keeps them.
 * 4. Members that contradict each other, and members that nobody knows, are worth a warning.
 */
describe.each(PROTOCOLS)("of any message of %s, sound or damaged,", (protocol) => {
  const runs = { numRuns: 400 };

  it("both drafts say what the schemas in the code say", () => {
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

  it("they say what the strict reader decides, and accept what the lenient one makes of it (D3-113)", () => {
    fc.assert(
      fc.property(ARBITRARY_MESSAGES[protocol], damages, (message, harm) => {
        const name = nameOf(message);
        const damaged = harm.reduce(damage, structuredClone(message));
        const read = strictly(protocol, damaged).message;
        const loosely = leniently(protocol, damaged).message;
        for (const draft of DRAFTS) {
          expect(fits(name, "strict", draft, damaged), name).toBe(read !== null);
          // A damaged message may be read as one of another kind, or of a kind that no document knows.
          if (loosely && detectProtocol(loosely) && nameOf(loosely) === name) {
            expect(fits(name, looserProfile(name), draft, loosely), name).toBe(true);
          }
        }
      }),
      runs,
    );
  });

  it("only the readers know how deep one may be", () => {
    let deep: unknown = {};
    for (let level = 0; level < 101; level += 1) deep = { deep };
    const [message] = fc.sample(ARBITRARY_MESSAGES[protocol], { numRuns: 1, seed: 3 });
    const nested = { ...message, deep };
    expect(fits(nameOf(message), "strict", "2020-12", nested)).toBe(true);
    expect(strictly(protocol, nested)).toMatchObject({ message: null, problems: [{ code: "too_deep" }] });
  });
});

/** Every part of a schema that has a format. */
function partsWithFormat(schema: unknown): Record<string, unknown>[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = "format" in schema && typeof schema.format === "string" ? [schema as Record<string, unknown>] : [];
  return [...own, ...Object.values(schema).flatMap(partsWithFormat)];
}

/** The dotted paths of the members that must be there, as deep as objects go. */
function requiredPaths(schema: Record<string, unknown>): string[] {
  const properties = (schema.properties ?? {}) as Record<string, Record<string, unknown>>;
  const required = (schema.required ?? []) as string[];
  return required.flatMap((name) => [name, ...requiredPaths(properties[name] ?? {}).map((path) => `${name}.${path}`)]);
}
