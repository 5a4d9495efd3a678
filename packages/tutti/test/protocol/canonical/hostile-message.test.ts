import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { detectProtocol } from "../../../src/protocol/canonical/detect-protocol.ts";
import { PROTOCOLS } from "../../../src/protocol/canonical/protocol-name.ts";
import { readMessage, writeMessage } from "../../../src/protocol/canonical/read-message.ts";
import { translate } from "../../../src/protocol/canonical/translate.ts";
import { ARBITRARY_MESSAGES } from "./arbitrary-message.ts";
import { leniently, receivedAt } from "./member-checks.ts";

/** JSON values of any kind, including names with a special meaning in JavaScript. */
const anyJson = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(
    fc.constantFrom("__proto__", "constructor", "toString", "type", "phase", "data", "result", "message_type", "tasks"),
    fc.jsonValue(),
  ),
);

describe.each(PROTOCOLS)("any value read as a message of the protocol %s", (protocol) => {
  it("yields a message or a problem, and never throws", () => {
    const someMember = fc.tuple(ARBITRARY_MESSAGES[protocol], fc.nat(), anyJson).map(([message, at, junk]) => {
      const names = Object.keys(message);
      return { ...message, [names[at % names.length] ?? "a"]: junk };
    });
    fc.assert(
      fc.property(fc.oneof(anyJson, someMember), (value) => {
        detectProtocol(value);
        for (const profile of ["strict", "lenient"] as const) {
          const { message, problems } = readMessage(protocol, value, { profile, receivedAt });
          const errors = problems.filter(({ severity }) => severity === "error");
          expect(message === null).toBe(errors.length > 0);
        }
        for (const to of PROTOCOLS) {
          for (const message of translate(value, protocol, to, receivedAt).messages) {
            expect(writeMessage(to, message).message).not.toBeNull();
          }
        }
        expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
      }),
      { numRuns: 150 },
    );
  });

  it("reads back as the same message after it is written", () => {
    fc.assert(
      fc.property(ARBITRARY_MESSAGES[protocol], (value) => {
        const { message } = leniently(protocol, value);
        expect(leniently(protocol, message).message).toEqual(message);
      }),
      { numRuns: 100 },
    );
  });
});
