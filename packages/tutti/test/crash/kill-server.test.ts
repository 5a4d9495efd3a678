// A server that is killed keeps everything that it has acknowledged, including data that belongs to no run.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Lab } from "../lab/lab.ts";

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
});
afterEach(() => lab.tearDown());

async function serve(): Promise<{ child: ChildProcess; call: (path: string, body?: object) => Promise<unknown> }> {
  const child = lab.start(["serve", "--port", "0"]);
  const address = await new Promise<URL>((resolve, reject) => {
    let output = "";
    child.stdout!.on("data", (text: Buffer) => {
      output += text.toString("utf8");
      const found = /listening on (\S+)/.exec(output);
      if (found) resolve(new URL(found[1]!));
    });
    child.on("close", () => reject(new Error(output)));
  });
  const headers = { authorization: `Bearer ${address.searchParams.get("token")}`, "content-type": "application/json" };
  const call = async (path: string, body?: object): Promise<unknown> => {
    const sent = body ? { method: "POST", body: JSON.stringify(body) } : {};
    return (await fetch(`${address.origin}/api/subsession${path}`, { headers, ...sent })).json();
  };
  return { child, call };
}

it("a server keeps sub-sessions and template events after SIGKILL (E32, D4-520)", async () => {
  const first = await serve();
  const registered = await first.call("/register", { childSessionId: "child", parentSessionId: "parent" });
  first.child.kill("SIGKILL");
  await once(first.child, "close");
  const next = await serve();
  const kept = (await next.call("/parent/parent")) as { status: string }[];
  // The monitor may have run since then and found no parent.
  expect(kept).toMatchObject([{ ...(registered as object), status: expect.stringMatching(/active|orphaned/) }]);
  await expect
    .poll(async () => ((await next.call("/parent/parent")) as { status: string }[])[0]!.status)
    .toBe("orphaned");
  next.child.kill("SIGTERM");
  await once(next.child, "close");
  const loaded = lab.events().filter(({ type }) => type === "template:loaded");
  expect(loaded.length).toBeGreaterThan(5);
  const data = { id: "_default", isSystem: true, hash: expect.any(String) };
  expect(loaded).toContainEqual(expect.objectContaining({ data }));
  expect(new Set(loaded.map(({ data }) => (data as { id: string }).id)).size).toBe(loaded.length);
});
