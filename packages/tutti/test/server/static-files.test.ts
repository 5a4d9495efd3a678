// The server serves the dashboard's files and no other file of the disk.
import { symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServerLab } from "./server-lab.ts";

let lab: ServerLab;
beforeAll(async () => {
  lab = new ServerLab();
  const webRoot = lab.webFolder({
    "index.html": "<!doctype html><title>the page</title>",
    "favicon.svg": "<svg/>",
    "assets/app-1a2b.js": "export {};",
    "assets/app-1a2b.css": "a {}",
    "with space.txt": "spaced",
    "data.unknown": "bytes",
    "assets/large-1a2b.js": "export const plain = 1;",
  });
  writeFileSync(join(webRoot, "assets/large-1a2b.js.gz"), gzipSync("export const plain = 1;"));
  writeFileSync(join(lab.lab.folder, "secret.txt"), "secret");
  writeFileSync(join(lab.lab.repo, "web-secret.txt"), "secret");
  symlinkSync(join(lab.lab.folder, "secret.txt"), join(webRoot, "link.txt"));
  symlinkSync(lab.lab.folder, join(webRoot, "out"));
  await lab.start({ webRoot });
});
afterAll(() => lab.tearDown());

describe("a file of the dashboard", () => {
  it.each([
    ["/", "text/html; charset=utf-8", "no-cache", "<!doctype html><title>the page</title>"],
    ["/index.html", "text/html; charset=utf-8", "no-cache", "<!doctype html><title>the page</title>"],
    ["/favicon.svg", "image/svg+xml", "no-cache", "<svg/>"],
    ["/assets/app-1a2b.js", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "export {};"],
    ["/assets/app-1a2b.css?v=1", "text/css; charset=utf-8", "public, max-age=31536000, immutable", "a {}"],
    ["/with%20space.txt", "text/plain; charset=utf-8", "no-cache", "spaced"],
    ["/data.unknown", "application/octet-stream", "no-cache", "bytes"],
  ])("%s has its content type", async (path, type, caching, text) => {
    const { status, headers, ...answer } = await lab.api(path);
    expect([status, headers["content-type"], headers["cache-control"], answer.text]).toEqual([
      200,
      type,
      caching,
      text,
    ]);
  });

  it.each(["/runs/orch_abc", "/runs/orch_abc/tasks/app.js", "/%ff", "/assetsx", "/apix"])(
    "%s, a client-side route, returns the page",
    async (path) => {
      const { status, text, headers } = await lab.api(path);
      expect([status, text, headers["content-type"]]).toEqual([
        200,
        "<!doctype html><title>the page</title>",
        "text/html; charset=utf-8",
      ]);
    },
  );

  it.each([
    ["gzip, deflate, br", "gzip"],
    ["br;q=1, gzip;q=0.5", "gzip"],
    ["br", undefined],
    ["gzip;q=0", undefined],
    ["gzip;q=0, identity", undefined],
  ])("that the build has packed is sent so to a client that accepts %s", async (accepted, encoding) => {
    const headers = { ...lab.bearer, "accept-encoding": accepted };
    const response = await lab.open("/assets/large-1a2b.js", { headers });
    const bytes = Buffer.concat((await response.toArray()) as Buffer[]);
    expect([response.headers["content-encoding"], response.headers.vary]).toEqual([encoding, "Accept-Encoding"]);
    expect(response.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(String(encoding ? gunzipSync(bytes) : bytes)).toBe("export const plain = 1;");
  });

  it("that is missing below /assets/ returns 404", async () => {
    expect((await lab.api("/assets/app-old.js")).status).toBe(404);
  });

  it("cannot be written", async () => {
    expect((await lab.api("/index.html", { method: "POST", body: "x" })).status).toBe(404);
    const head = await lab.api("/index.html", { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  it("needs the cookie or the token", async () => {
    for (const path of ["/", "/index.html", "/assets/app-1a2b.js"]) expect((await lab.ask(path)).status).toBe(401);
  });
});

describe("a path that leads out of the folder", () => {
  const OUT = [
    "/../web-secret.txt",
    "/../../secret.txt",
    "/%2e%2e/web-secret.txt",
    "/..%2fweb-secret.txt",
    "/..%5cweb-secret.txt",
    "/assets/..%2f..%2fweb-secret.txt",
    "/assets/../../web-secret.txt",
    "//../web-secret.txt",
    "/link.txt",
    "/out/secret.txt",
    "/out/data/token",
    "/..%2f..%2fdata%2ftoken",
    "/%00",
    "/../web-secret.txt%00.js",
  ];

  it.each(OUT)("%s reveals no file there", async (path) => {
    const text = await new Promise<string>((resolve, reject) => {
      let answer = "";
      const connection = connect(lab.server.port, "127.0.0.1").setEncoding("latin1");
      connection.on("data", (chunk: string) => (answer += chunk));
      connection.on("close", () => resolve(answer)).on("error", reject);
      const { authorization } = lab.bearer;
      connection.write(
        `GET ${path} HTTP/1.1\r\nHost: ${lab.host}\r\nAuthorization: ${String(authorization)}\r\nConnection: close\r\n\r\n`,
      );
    });
    expect(text).toMatch(/^HTTP\/1\.1 (200|404)/);
    const body = text.slice(text.indexOf("\r\n\r\n"));
    expect(body).not.toContain(lab.token);
    expect(body.includes("the page") || body.includes("not_found")).toBe(true);
  });
});

describe("a dashboard that is not built", () => {
  it("is reported on the page", async () => {
    const bare = await ServerLab.open();
    const { status, text, headers } = await bare.api("/anything");
    expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=UTF-8"]);
    expect(text).toContain("the dashboard is not built");
    await bare.tearDown();
  });
});
