import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Smaller files gain nothing. */
const LEAST_BYTES = 1024;

/** Puts a gzip file beside each script, style and catalogue; the server sends it to browsers that accept it. */
const packAssets = (): Plugin => ({
  name: "pack-assets",
  apply: "build",
  writeBundle({ dir = "dist" }) {
    const assets = join(dir, "assets");
    for (const name of readdirSync(assets).filter((each) => /\.(js|css|json)$/.test(each))) {
      const file = join(assets, name);
      if (statSync(file).size >= LEAST_BYTES) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    }
  },
});

interface SourceNode {
  type: string;
  start: number;
  end: number;
  [part: string]: unknown;
}

const isNode = (value: unknown): value is SourceNode =>
  typeof value === "object" && value !== null && typeof (value as SourceNode).type === "string";

/** The outermost calls that build a schema, such as `z.object({ … }).optional()`. */
function findSchemas(node: SourceNode): SourceNode[] {
  if (node.type === "CallExpression" && isOfZod(node)) return [node];
  const parts = Object.values(node).flatMap((part) => (Array.isArray(part) ? part : [part]));
  return parts.filter(isNode).flatMap(findSchemas);
}

function isOfZod({ type, name, callee, object }: SourceNode): boolean {
  if (type === "Identifier") return name === "z";
  const inner = type === "CallExpression" ? callee : type === "MemberExpression" ? object : null;
  return isNode(inner) && isOfZod(inner);
}

/**
 * Replaces every schema by `z`, which `zod-types.ts` makes the same value. Without it, a table of schemas whose keys the page
 * uses keeps them all.
 */
const dropSchemas = (): Plugin => ({
  name: "drop-schemas",
  apply: "build",
  enforce: "post",
  transform(code, id) {
    if (!id.includes("/packages/tutti/src/") || !code.includes("z.")) return null;
    const schemas = findSchemas(this.parse(code) as unknown as SourceNode);
    if (schemas.length === 0) return null;
    const kept = schemas.map(({ start }, index) => code.slice(schemas[index - 1]?.end ?? 0, start));
    return { code: `${kept.join("z")}z${code.slice(schemas.at(-1)?.end)}`, map: null };
  },
});

// The server sends the page with the policy `default-src 'self'`, so neither scripts nor small images may be inlined.
export default defineConfig({
  plugins: [react(), dropSchemas(), packAssets()],
  resolve: {
    alias: {
      // The page uses the schemas of the server for their types and tables only.
      zod: fileURLToPath(new URL("zod-types.ts", import.meta.url)),
      // Preact has the functions of React that the page and the graph use, in a tenth of its size.
      react: "preact/compat",
      "react-dom": "preact/compat",
    },
  },
  build: {
    target: ["chrome123", "edge123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  // For development of the page: run `tutti serve` beside `npx vite`; the proxy gives both one origin.
  server: { proxy: { "/api": { target: "http://127.0.0.1:4517", ws: true } } },
});
