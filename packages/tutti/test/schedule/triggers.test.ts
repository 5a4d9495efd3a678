import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fillPayload } from "../../src/schedule/fill-payload.ts";
import { identifyDelivery, type Signatures } from "../../src/schedule/signature.ts";
import { TuttiError } from "../../src/schema/error.ts";
import { ScheduleLab, SECRET } from "./schedule-lab.ts";

const hmac = (text: string, secret = SECRET) => createHmac("sha256", secret).update(text).digest("hex");
const hub = (body: string, secret = SECRET) => ({ hub: `sha256=${hmac(body, secret)}`, tutti: undefined });
const NOW = Date.parse("2026-11-16T12:00:00Z");
const stamped = (body: string, { at = NOW, id = "", secret = SECRET } = {}) => {
  const t = Math.floor(at / 1000);
  const name = id === "" ? "" : `id=${id},`;
  return { hub: undefined, tutti: `t=${t},${name}v1=${hmac(`${t}.${id}.${body}`, secret)}` };
};
const bytes = (text: string) => new TextEncoder().encode(text);

let lab: ScheduleLab;
beforeEach(() => {
  lab = new ScheduleLab("2026-11-16T12:00:00Z");
  lab.config = { triggers: { deploy: { maxConcurrent: 2 } } };
  lab.open();
});
afterEach(() => lab.tearDown());

const deliver = (name: string, body: string, signatures: Signatures = hub(body)) =>
  lab.automation.triggers.deliver(name, signatures, bytes(body));

describe("a signature", () => {
  const isAccepted = (signatures: Signatures, body = "{}", now = NOW) =>
    identifyDelivery(SECRET, signatures, bytes(body), now) !== null;

  it("of the body is accepted; one of other data, with another secret or in another form is not", () => {
    expect(isAccepted(hub("{}"))).toBe(true);
    expect(isAccepted(hub("{ }"))).toBe(false);
    expect(isAccepted(hub("{}", "another secret of some length"))).toBe(false);
    const { hub: right } = hub("{}");
    for (const odd of [
      right.slice(7),
      right.toUpperCase(),
      `${right}0`,
      right.slice(0, -2),
      "sha256=",
      "",
      undefined,
    ]) {
      expect(isAccepted({ hub: odd, tutti: undefined }), odd).toBe(false);
    }
  });

  it("with a time is valid for five minutes before and after it", () => {
    expect(isAccepted(stamped("{}", { id: "a" }))).toBe(true);
    for (const minutes of [-4.9, 4.9]) expect(isAccepted(stamped("{}"), "{}", NOW + minutes * 60_000)).toBe(true);
    for (const minutes of [-5.1, 5.1]) expect(isAccepted(stamped("{}"), "{}", NOW + minutes * 60_000)).toBe(false);
  });

  it("with a time covers the time and the id too, and the weaker form cannot replace it", () => {
    const { tutti } = stamped("{}", { id: "a" });
    expect(isAccepted({ hub: undefined, tutti: tutti.replace("id=a", "id=b") })).toBe(false);
    expect(isAccepted({ hub: undefined, tutti: tutti.replace("id=a,", "") })).toBe(false);
    expect(isAccepted({ hub: undefined, tutti: tutti.replace(/t=\d+/, `t=${NOW / 1000 + 1}`) })).toBe(false);
    expect(isAccepted({ hub: hub("{}").hub, tutti: "t=1,v1=" })).toBe(false);
  });
});

describe("a trigger", () => {
  it("creates one run per delivery and returns it again for a repeat under any name", async () => {
    const first = await deliver("deploy", '{"ref":"a"}');
    expect(first).toEqual({ run: "orch_1", status: "analyzing", isNew: true });
    expect(await deliver("deploy", '{"ref":"a"}')).toEqual({ ...first, isNew: false });
    expect(await deliver("deploy", '{"ref":"b"}')).toMatchObject({ run: "orch_2", isNew: true });
    expect(lab.runs.told.map(({ type }) => type)).toEqual(["trigger:fired", "trigger:fired"]);
  });

  it("identifies a delivery with a time by its id, or by its time and body", async () => {
    await deliver("deploy", "{}", stamped("{}", { id: "one" }));
    expect(await deliver("deploy", "[]", stamped("[]", { id: "one", at: NOW + 5000 }))).toMatchObject({ isNew: false });
    expect(await deliver("deploy", "{}", stamped("{}"))).toMatchObject({ isNew: true });
    expect(await deliver("deploy", "{}", stamped("{}"))).toMatchObject({ isNew: false });
    lab.runs.end();
    expect(await deliver("deploy", "{}", stamped("{}", { at: NOW + 1000 }))).toMatchObject({ isNew: true });
  });

  it("creates one run for a delivery sent many times at once, and at most maxConcurrent for others", async () => {
    const same = await Promise.all(Array.from({ length: 5 }, () => deliver("deploy", '"same"')));
    expect(new Set(same.map(({ run }) => run)).size).toBe(1);
    const others = await Promise.allSettled(["1", "2", "3"].map((body) => deliver("deploy", body)));
    expect(others.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(lab.runs.list).toHaveLength(2);
    expect(lab.runs.told.at(-1)).toMatchObject({
      type: "trigger:refused",
      data: { name: "deploy", reason: expect.stringContaining("is reached by open runs") },
    });
    expect(lab.reported).toEqual(Array(2).fill("trigger refused"));
    // A refused delivery leaves nothing, so it can be sent again.
    lab.runs.end();
    expect(await deliver("deploy", "3")).toMatchObject({ isNew: true });
  });

  it("reports a delivery that is refused for the same reason once, however often it is sent", async () => {
    await deliver("deploy", "1");
    await deliver("deploy", "2");
    const refused = () => lab.runs.told.filter(({ type }) => type === "trigger:refused").length;
    for (const body of ["3", "3", "4", "3", "4"]) {
      await expect(deliver("deploy", body)).rejects.toMatchObject({ code: "too_many_runs" });
    }
    expect([refused(), lab.reported.length]).toEqual([2, 2]);
    lab.runs.createFails = new TuttiError("template_not_found", "there is no template x");
    lab.runs.end();
    await expect(deliver("deploy", "3")).rejects.toMatchObject({ code: "template_not_found" });
    expect([refused(), lab.reported.length]).toEqual([3, 3]);
  });

  it("that is unknown, disabled, without a secret or with a short one is rejected like a wrong signature", async () => {
    lab.config = {
      triggers: {
        deploy: {},
        off: { enabled: false },
        unset: { secretEnv: "NOWHERE" },
        short: { secretEnv: "SHORT_SECRET" },
        lost: { secretEnv: undefined, secretFile: join(lab.folder, "nowhere") },
      },
    };
    const refusal = async (name: string, signatures: Signatures = hub("{}")) => {
      const error = await deliver(name, "{}", signatures).catch((thrown: TuttiError) => thrown);
      return error instanceof TuttiError ? [error.code, error.message] : error;
    };
    const wrong = await refusal("deploy", hub("{}", "another secret of some length"));
    expect(wrong).toMatchObject(["unauthorized", expect.any(String)]);
    expect(await refusal("deploy", { hub: undefined, tutti: undefined })).toEqual(wrong);
    for (const name of ["nobody", "toString", "off", "unset", "lost"]) expect(await refusal(name), name).toEqual(wrong);
    expect(await refusal("short", hub("{}", "short"))).toEqual(wrong);
    expect(await refusal("unset", hub("{}", ""))).toEqual(wrong);
    expect(lab.runs.list).toEqual([]);
    const problems = lab.automation.triggers.list().map(({ name, problem }) => [name, problem]);
    expect(Object.fromEntries(problems)).toMatchObject({
      deploy: null,
      unset: "The secret cannot be read from the environment variable NOWHERE. Set it there.",
      short: "The secret in the environment variable SHORT_SECRET is too short. Use at least 16 characters.",
      lost: `The secret cannot be read from the file ${join(lab.folder, "nowhere")}. Set it there.`,
    });
  });

  it("reads its secret from a file too, and a new secret takes effect at once", async () => {
    const secretFile = join(lab.folder, "secret");
    lab.config = { triggers: { deploy: { secretEnv: undefined, secretFile } } };
    writeFileSync(secretFile, `${SECRET}\n`);
    expect(await deliver("deploy", "1")).toMatchObject({ isNew: true });
    lab.runs.end();
    writeFileSync(secretFile, "quite another secret");
    await expect(deliver("deploy", "2")).rejects.toMatchObject({ code: "unauthorized" });
    expect(await deliver("deploy", "2", hub("2", "quite another secret"))).toMatchObject({ isNew: true });
  });

  it("rejects a signed body that is not JSON, and every delivery while the configuration is invalid", async () => {
    await expect(deliver("deploy", "{ half")).rejects.toMatchObject({ code: "invalid_input" });
    lab.broken = new TuttiError("usage", "tutti.config.json is not JSON");
    await expect(deliver("deploy", "{}")).rejects.toMatchObject({ code: "wrong_state" });
    await expect(deliver("deploy", "{}", hub("{}", "x".repeat(20)))).rejects.toMatchObject({ code: "unauthorized" });
    expect(lab.runs.list).toEqual([]);
  });

  it("with a payload that is too deep or has too many values is rejected", async () => {
    const deep = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
    const wide = `[${"1,".repeat(100_000)}1]`;
    for (const body of [deep, wide])
      await expect(deliver("deploy", body)).rejects.toMatchObject({ code: "invalid_input" });
    expect(lab.runs.list).toEqual([]);
  });

  it("inserts a payload only at the placeholders in the user's texts", async () => {
    const message = "Look at {PAYLOAD.issue.title} by {PAYLOAD.user}";
    const variables = { WHOLE: "{PAYLOAD}", NUMBER: 7, PLAIN: "{TASK_ID}" };
    lab.config = { triggers: { deploy: { message, variables } } };
    await deliver(
      "deploy",
      JSON.stringify({ issue: { title: "{PAYLOAD.user} {USER_REQUEST}" }, user: "eve", more: 1 }),
    );
    const { request } = lab.runs.list[0]!;
    expect(request.message).toBe("Look at {PAYLOAD.user} {USER_REQUEST} by eve");
    expect(request.customVariables).toMatchObject({ NUMBER: 7, PLAIN: "{TASK_ID}" });
    expect(JSON.parse(request.customVariables["WHOLE"] as string)).toMatchObject({ more: 1 });
  });
});

describe("texts with placeholders for a payload", () => {
  it.each([
    ["{PAYLOAD}", { a: 1 }, '{"a":1}'],
    ["{PAYLOAD.list.1}", { list: ["x", "y"] }, "y"],
    ["{PAYLOAD.n} {PAYLOAD.yes}", { n: 0, yes: false }, "0 false"],
    ["-{PAYLOAD.none.at.all}-", {}, "--"],
    ["-{PAYLOAD.constructor}-{PAYLOAD.list.map}-", { list: [1] }, "---"],
    ["-{PAYLOAD}-", undefined, "--"],
    ["{payload} {PAYLOADS} {PAYLOAD.}", {}, "{payload} {PAYLOADS} {PAYLOAD.}"],
  ])("such as %j are filled from %j: %j", (text, payload, expected) =>
    expect(fillPayload(text, payload)).toBe(expected),
  );

  it("truncate a long value", () => {
    expect(fillPayload("{PAYLOAD}", "x".repeat(1_000_000))).toHaveLength(20_000 + "… (cut)".length);
  });
});
