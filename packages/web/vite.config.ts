import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The server sends the page with the policy `default-src 'self'`, so neither scripts nor small images may be inlined.
export default defineConfig({
  plugins: [react()],
  build: {
    target: ["chrome123", "edge123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  // For development of the page: run `tutti serve` beside `npx vite`; the proxy gives both one origin.
  server: { proxy: { "/api": { target: "http://127.0.0.1:4517", ws: true } } },
});
