import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Smaller files gain nothing. */
const LEAST_BYTES = 1024;

/** Puts a gzip file beside each script and style; the server sends it to browsers that accept it. */
const packAssets = (): Plugin => ({
  name: "pack-assets",
  apply: "build",
  writeBundle({ dir = "dist" }) {
    const assets = join(dir, "assets");
    for (const name of readdirSync(assets).filter((each) => /\.(js|css)$/.test(each))) {
      const file = join(assets, name);
      if (statSync(file).size >= LEAST_BYTES) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    }
  },
});

// The server sends the page with the policy `default-src 'self'`, so neither scripts nor small images may be inlined.
export default defineConfig({
  plugins: [react(), packAssets()],
  // The page uses the schemas of the server for their types and tables only.
  resolve: { alias: { zod: fileURLToPath(new URL("zod-types.ts", import.meta.url)) } },
  build: {
    target: ["chrome123", "edge123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    // Schemas that only types use are dropped: building one has no effect.
    rolldownOptions: { treeshake: { manualPureFunctions: ["z"] } },
  },
  // For development of the page: run `tutti serve` beside `npx vite`; the proxy gives both one origin.
  server: { proxy: { "/api": { target: "http://127.0.0.1:4517", ws: true } } },
});
