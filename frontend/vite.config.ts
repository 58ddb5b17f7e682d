import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { wireCode } from "./generate/wireCode.mjs";

const backend = "127.0.0.1:8787";

export default defineConfig({
  plugins: [wireCode(), react()],
  build: {
    outDir: "../backend/tidscope_backend/web",
    emptyOutDir: true,
    license: { fileName: "licenses.json" },
    target: "es2022",
    // React and the pages, and ECharts for Compare; the page is served from the same machine.
    chunkSizeWarningLimit: 700,
  },
  worker: { format: "es" },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/api": `http://${backend}`,
      "/ws": { target: `ws://${backend}`, ws: true },
    },
  },
});
