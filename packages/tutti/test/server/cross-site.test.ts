// Requests that pages of other sites, and of other ports of this machine, can make a browser send: for every route and for
// upgrades, with the cookie of the server's own token and of a named one.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readRouteKey, roleOf, type Route } from "../../src/schema/api/route.ts";
import { addressesOf, ROUTES } from "../../src/schema/api/routes.ts";
import { ServerLab } from "./server-lab.ts";

interface Address {
  method: string;
  path: string;
}

/** Every route that needs a token, plus a page and a file of the dashboard. */
const CLOSED: Address[] = [
  ...Object.entries<Route>(ROUTES)
    .filter(([key, route]) => roleOf(key, route) !== null)
    .flatMap(([key]) => addressesOf(key))
    .map((key) => {
      const { method, path } = readRouteKey(key);
      return { method, path: path.replaceAll(/:\w+/g, "x") };
    }),
  { method: "GET", path: "/some/page" },
  { method: "GET", path: "/assets/page.js" },
];
const PATHS = [...new Set(CLOSED.map(({ path }) => path))];

let lab: ServerLab;
let cookies: string[];
let ownOrigin: string;
beforeAll(async () => {
  lab = await ServerLab.open();
  ownOrigin = `http://${lab.host}`;
  const { token } = lab.tokens.create({ name: "somebody", role: "admin" });
  cookies = await Promise.all(
    [lab.token, token].map(
      async (each) => (await lab.ask(`/?token=${each}`)).headers["set-cookie"]![0]!.split(";")[0]!,
    ),
  );
});
afterAll(() => lab.tearDown());

/** Sends the requests one after the other and returns their statuses. */
async function statuses(address: Address, each: readonly OutgoingHttpHeaders[], body?: string): Promise<number[]> {
  const found = [];
  for (const headers of each) {
    const response = await lab.open(address.path, { method: address.method, headers, body });
    found.push(response.statusCode!);
    response.destroy();
  }
  return found;
}
const allOf = (status: number, list: readonly unknown[]) => list.map(() => status);
const withCookies = (...headers: OutgoingHttpHeaders[]) =>
  cookies.flatMap((cookie) => headers.map((more) => ({ cookie, ...more })));

/** Headers of browsers for requests from other sites and ports. */
const fromElsewhere = () => [
  { origin: "null" },
  { origin: "http://evil.example" },
  { origin: "http://127.0.0.1:1" },
  { origin: `http://localhost:${lab.server.port}` },
  { origin: ownOrigin, "sec-fetch-site": "cross-site" },
  { origin: ownOrigin, "sec-fetch-site": "same-site" },
];

describe("with the cookie", () => {
  it.each(CLOSED)("$method $path is rejected if the Origin is foreign or null", async (address) => {
    const requests = withCookies(...fromElsewhere());
    expect(await statuses(address, requests)).toEqual(allOf(403, requests));
  });

  it.each(CLOSED)("$method $path needs the Origin of our own page if it writes", async (address) => {
    const missing = await statuses(address, withCookies({}, { "sec-fetch-site": "same-origin" }));
    const given = await statuses(address, withCookies({ origin: ownOrigin }));
    const isRefused = (status: number) => status === 401 || status === 403;
    expect(missing.map(isRefused)).toEqual(missing.map(() => address.method !== "GET"));
    expect(given.some(isRefused)).toBe(false);
  });

  it.each(PATHS)("a form of another site cannot send anything to %s", async (path) => {
    const navigation = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    const forms = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"].flatMap(
      (type) => ["null", "http://evil.example"].map((origin) => ({ ...navigation, origin, "content-type": type })),
    );
    const requests = withCookies(...forms);
    expect(await statuses({ method: "POST", path }, requests, "a=b")).toEqual(allOf(403, requests));
    // A GET form is a link: the browser sends Sec-Fetch-Site, or no cookie at all.
    const links = withCookies(navigation);
    expect(await statuses({ method: "GET", path }, links)).toEqual(allOf(403, links));
  });

  it.each(PATHS)("an image, script or frame of another site, or of another port, cannot show %s", async (path) => {
    const parts = ["image", "script", "iframe"].flatMap((dest) =>
      ["cross-site", "same-site"].map((site) => ({ "sec-fetch-site": site, "sec-fetch-dest": dest })),
    );
    const requests = withCookies(...parts);
    expect(await statuses({ method: "GET", path }, requests)).toEqual(allOf(403, requests));
    expect(await statuses({ method: "GET", path }, parts)).toEqual(allOf(401, parts));
  });

  it.each(CLOSED)("$method $path rejects the cookies of servers on other ports", async (address) => {
    const { port } = lab.server;
    const foreign = cookies.flatMap((cookie) => [
      cookie.replace(`tutti_${port}=`, `tutti_${port + 1}=`),
      cookie.replace(`tutti_${port}=`, "tutti="),
      cookie.replace(`tutti_${port}=`, `tutti_${port}0=`),
    ]);
    const requests = foreign.map((cookie) => ({ cookie, origin: ownOrigin }));
    expect(await statuses(address, requests)).toEqual(allOf(401, requests));
    // A cookie that another port set under our name is skipped and does not lock the user out.
    const mixed = cookies.map((cookie) => ({ cookie: `tutti_${port}=junk; ${cookie}`, origin: ownOrigin }));
    const [first, second] = await statuses(address, mixed);
    for (const status of [first, second]) expect([401, 403]).not.toContain(status);
  });
});

describe("an upgrade with the cookie", () => {
  const refusals = async (path: string, each: readonly OutgoingHttpHeaders[]) => {
    const found = [];
    for (const headers of each) found.push((await lab.refusedSocket(path, headers)).status);
    return found;
  };

  it("is rejected if the Origin is foreign, null or missing, or the request comes from another site or port", async () => {
    const requests = withCookies({}, { "sec-fetch-site": "same-origin" }, ...fromElsewhere());
    expect(await refusals("/api/events", requests)).toEqual(allOf(403, requests));
    for (const cookie of cookies) (await lab.socket("", { cookie, origin: ownOrigin })).leave();
  });

  it("is rejected with a foreign Host and with the cookie of another port", async () => {
    const { port } = lab.server;
    const hosts = ["evil.example", `evil.example:${port}`, "127.0.0.1:1", `127.0.0.1.evil.example:${port}`];
    const requests = withCookies(...hosts.map((host) => ({ host, origin: `http://${host}` })));
    expect(await refusals("/api/events", requests)).toEqual(allOf(403, requests));
    const others = cookies.map((cookie) => ({ cookie: cookie.replace(/^tutti_\d+/, "tutti_1"), origin: ownOrigin }));
    expect(await refusals("/api/events", others)).toEqual([401, 401]);
  });

  it("works only at /api/events, and access is checked before the path", async () => {
    for (const path of PATHS.filter((each) => each !== "/api/events")) {
      const [good, foreign] = withCookies({ origin: ownOrigin }, { origin: "null" });
      expect([path, ...(await refusals(path, [good!, foreign!, {}]))]).toEqual([path, 404, 403, 401]);
    }
  });
});

describe("the content security policy", () => {
  const policy = (headers: IncomingHttpHeaders) => String(headers["content-security-policy"]).split("; ");

  it("is on every response of every route, successful or not", async () => {
    for (const { method, path } of CLOSED) {
      for (const headers of [
        {},
        lab.bearer,
        { ...lab.bearer, origin: "null" },
        { ...lab.bearer, host: "evil.example" },
      ]) {
        const response = await lab.open(path, { method, headers });
        response.destroy();
        // A page of the server itself may also use its own style and send its form to the server.
        const isOwnPage = response.statusCode !== 403 && !/^\/(api|metrics)/.test(path);
        const expected = isOwnPage ? PAGE_POLICY : POLICY;
        expect([path, response.statusCode, policy(response.headers)]).toEqual([path, response.statusCode, expected]);
        expect(Object.keys(response.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
    }
  });

  it("is on rejected upgrades too", async () => {
    const upgrade = { connection: "Upgrade", upgrade: "websocket" };
    for (const headers of [upgrade, { ...upgrade, ...lab.bearer, origin: "null" }, { ...upgrade, ...lab.bearer }]) {
      const { headers: answered } = await lab.ask("/api/events", { headers });
      expect(policy(answered)).toEqual(POLICY);
    }
  });

  const POLICY = [
    "default-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const PAGE_POLICY = [
    ...POLICY.map((each) => (each === "form-action 'none'" ? "form-action 'self'" : each)),
    expect.stringMatching(/^style-src 'sha256-[A-Za-z0-9+/]{43}='$/),
  ];
});
