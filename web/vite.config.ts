// Builds the console into the Python package, which serves it; nothing is loaded from elsewhere.
import { defineConfig } from "vite";

export default defineConfig({
  // Relative, so that the console also works below a path of a reverse proxy.
  base: "./",
  build: {
    outDir: "../python/slipring/console/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { "/api": { target: "http://127.0.0.1:8080", ws: true } },
  },
});
