import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const api = process.env.PENSTOCK_API ?? "http://127.0.0.1:8600";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "../src/penstock/web/dist",
    emptyOutDir: true,
    manifest: "manifest.json",
    // Fonts and pictures stay files: the page's policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  server: { proxy: { "/api": api, "/health": api, "/openapi.json": api } },
  test: { environment: "jsdom", include: ["src/**/*.test.{ts,tsx}"] },
});
