import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { wireCode } from "./generate/wireCode.mjs";

const backend = "127.0.0.1:8787";

/** Entry of `vite build --mode recorded`: a run from files beside the page, without a backend. */
const recordedEntry: Plugin = {
  name: "tidscope-recorded-entry",
  transformIndexHtml: {
    order: "pre",
    handler: (html) => html.replace("/src/main.tsx", "/src/recorded.tsx"),
  },
};

export default defineConfig(({ mode }) => ({
  plugins: [wireCode(), react(), ...(mode === "recorded" ? [recordedEntry] : [])],
  base: mode === "recorded" ? "./" : "/",
  build: {
    outDir: mode === "recorded" ? "../dist/demo" : "../backend/tidscope_backend/web",
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
}));
