// Delivers to a real server on this machine.
import { createHmac } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { outgoing, RUN, startWebhook } from "./notify-lab.ts";
import type { OutgoingNotification } from "../../src/notify/target.ts";
import { webhookTarget } from "../../src/notify/webhook-target.ts";
import { NotificationSettings } from "../../src/notify/notification-settings.ts";
import { realWorld } from "../../src/world.ts";

type Hook = Awaited<ReturnType<typeof startWebhook>>;
const open: Hook[] = [];
afterEach(async () => {
  for (const hook of open.splice(0)) await hook.close();
});

async function webhook(...answer: Parameters<typeof startWebhook>): Promise<Hook> {
  const hook = await startWebhook(...answer);
  open.push(hook);
  return hook;
}

const never = new AbortController().signal;
const deliver = (webhooks: object, more: object = {}, message: Partial<OutgoingNotification> = {}, env = {}) => {
  const local = { allowInternal: true, allowHosts: ["127.0.0.1"] };
  const settings = NotificationSettings.parse({ webhooks: [webhooks], ...local, ...more });
  return webhookTarget(settings.webhooks[0]!, settings, { env, world: realWorld }).deliver(outgoing(message), never);
};

describe("A webhook", () => {
  it("for Slack receives one text in which an agent's words make no mention and no link", async () => {
    const hook = await webhook();
    const text = "<!channel> <@U123> <https://evil.example|click> & @here @all a@b ![see](https://evil.example/?x)";
    const url = "http://127.0.0.1:4517/runs/x";
    expect(await deliver({ url: hook.url, format: "slack" }, {}, { text, url })).toEqual({
      ok: true,
      detail: "answered 200",
    });
    const body = JSON.parse(hook.received[0]!.body) as { text: string };
    expect(body).toMatchObject({ unfurl_links: false, unfurl_media: false });
    expect(body.text.split("\n")).toEqual([
      "*one asks*",
      "&lt;!channel&gt; &lt;@\u200bU123&gt; &lt;https:\u200b//evil.example|click&gt; &amp; @\u200bhere @\u200ball a@\u200bb " +
        "![see]\u200b(https:\u200b//evil.example/?x)",
      `_do it_  <${url}|${RUN}>`,
    ]);
  });

  it("for programs receives the notification as JSON, with its id, and signed if there is a secret", async () => {
    const hook = await webhook();
    await deliver({ url: hook.url, secretEnv: "HOOK_SECRET" }, {}, {}, { HOOK_SECRET: "canary" });
    const [{ headers, body }] = hook.received as [Hook["received"][number]];
    expect(JSON.parse(body)).toEqual({ version: 1, ...outgoing(), at: "1970-01-01T00:00:00.000Z" });
    expect(headers["x-tutti-notification"]).toBe(outgoing().id);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    const signature = createHmac("sha256", "canary").update(body).digest("hex");
    expect(headers["x-tutti-signature"]).toBe(`sha256=${signature}`);
    expect(JSON.stringify(hook.received)).not.toContain("canary");
  });

  it("that expects a signature receives nothing if the secret is not set", async () => {
    const hook = await webhook();
    const delivery = await deliver({ url: hook.url, secretEnv: "HOOK_SECRET" });
    expect(delivery).toEqual({ ok: false, detail: "the environment variable HOOK_SECRET with the secret is not set" });
    expect(hook.received).toEqual([]);
  });

  it("whose host is not allowed receives nothing, and the error hides its path", async () => {
    const hook = await webhook();
    const delivery = await deliver({ url: `${hook.url}/secret-path` }, { allowHosts: ["hooks.example.org"] });
    expect(delivery).toEqual({ ok: false, detail: "127.0.0.1 is not among notifications.allowHosts" });
    expect(hook.received).toEqual([]);
  });

  it.each(["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]", "2130706433", "0x7f.1", "0.0.0.0"])(
    "on this machine or its networks receives nothing without `allowInternal`: %s",
    async (host) => {
      const hook = await webhook();
      const url = `https://${host}:${hook.port}/`;
      const allowHosts = [host, new URL(url).hostname];
      const delivery = await deliver({ url }, { allowInternal: false, allowHosts });
      expect(delivery).toMatchObject({
        ok: false,
        detail: expect.stringContaining("Set notifications.allowInternal to true"),
      });
      expect(delivery.again).toBeUndefined();
      expect(hook.received).toEqual([]);
    },
  );

  it("that answers with a redirect is not followed", async () => {
    const other = await webhook();
    const hook = await webhook((response) => void response.writeHead(307, { location: other.url }).end());
    const delivery = await deliver({ url: hook.url });
    expect(delivery).toEqual({ ok: false, detail: "answered 307; redirects are not followed" });
    expect(other.received).toEqual([]);
  });

  it.each([
    [429, { "retry-after": "7" }, 7000],
    [429, { "retry-after": "999999" }, 300_000],
    [503, { "retry-after": "soon" }, 0],
    [500, {}, 0],
  ])("that answers %i %j is retried after %i ms", async (status, headers, afterMs) => {
    const hook = await webhook((response) => void response.writeHead(status, headers).end("busy\u001b[31m\n"));
    const delivery = await deliver({ url: hook.url });
    expect(delivery).toEqual({ ok: false, detail: `answered ${status}: busy [31m`, again: { afterMs } });
  });

  it("whose retry-after is a date is retried at that time", async () => {
    const until = new Date(Date.now() + 60_000).toUTCString();
    const hook = await webhook((response) => void response.writeHead(503, { "retry-after": until }).end());
    const { again } = await deliver({ url: hook.url });
    expect(again!.afterMs).toBeGreaterThan(0);
    expect(again!.afterMs).toBeLessThanOrEqual(60_000);
  });

  it("that rejects the request is not retried, and one that is unreachable is", async () => {
    const hook = await webhook((response) => void response.writeHead(404).end("no_service"));
    expect(await deliver({ url: hook.url })).toEqual({ ok: false, detail: "answered 404: no_service" });
    await hook.close();
    expect(await deliver({ url: hook.url })).toMatchObject({ ok: false, again: { afterMs: 0 } });
  });

  it("that echoes its URL has the path and query hidden in the error", async () => {
    const hook = await webhook((response) => {
      const { url = "" } = response.req;
      response.writeHead(404).end(`Cannot POST ${url}; ${decodeURIComponent(url)}; no T0KEN-ÄÖ of k3y-in-query`);
    });
    const { detail } = await deliver({ url: `${hook.url}/T0KEN-ÄÖ?key=k3y-in-query` });
    expect(detail).toBe("answered 404: Cannot POST …; …; no … of …");
  });

  it("that switches the protocol counts as failed", async () => {
    const hook = await webhook(({ socket }) => {
      socket!.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n");
    });
    expect(await deliver({ url: hook.url })).toEqual({ ok: false, detail: "answered 101" });
  });

  it.each([
    [200, { ok: true, detail: "answered 200" }],
    [503, { ok: false, detail: "answered 503", again: { afterMs: 0 } }],
  ])("that answers %i and then breaks off counts by its status", async (status, delivery) => {
    const hook = await webhook((response) => {
      response.writeHead(status, { "content-length": 100 });
      response.write("half", () => response.destroy());
    });
    expect(await deliver({ url: hook.url })).toEqual(delivery);
  });

  it("that answers without end is disconnected", async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const hook = await webhook((response) => {
      response.on("close", resolve);
      response.writeHead(500);
      const write = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
        if (!response.destroyed) response.once("drain", write);
      };
      write();
    });
    const { detail } = await deliver({ url: hook.url });
    expect(detail).toBe(`answered 500: ${"x".repeat(200)}`);
    await closed;
  });
});

describe("Notification settings", () => {
  it.each([
    [{ webhooks: [{ url: "http://hooks.example.org/x" }] }, "must begin with https:// unless allowInternal is true"],
    [{ webhooks: [{ url: "ftp://hooks.example.org/x" }] }, "begins with https:// or http://"],
    [{ webhooks: [{ url: "https://a:b@hooks.example.org/x" }] }, "contains no password"],
    [{ webhooks: [{ url: "https://x.org", format: "xml" }] }, "slack"],
    [{ webhooks: [{ url: "https://x.org", secretEnv: "A=b" }] }, "must be the name of an environment variable"],
    [{ on: ["everything"] }, "needs_person"],
    [{ command: "  " }, "must name a program and its arguments"],
    [{ webhook: [] }, "webhook"],
  ])("of the form %j are rejected with the reason", (settings, problem) => {
    const { error } = NotificationSettings.safeParse(settings);
    expect(error?.message).toContain(problem);
    expect(error?.message).not.toContain("hooks.example.org");
  });
});
