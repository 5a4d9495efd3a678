import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Everything comes from the server that serves the page, under a policy of `default-src 'self'`: nothing is inlined,
// neither scripts nor small pictures.
export default defineConfig({
  plugins: [react()],
  build: {
    target: ["chrome123", "edge123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  // For work on the page itself: `tutti serve` beside `npx vite`, one origin for both.
  server: { proxy: { "/api": { target: "http://127.0.0.1:4517", ws: true } } },
});
