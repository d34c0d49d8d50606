import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/perdure/web/static",
    emptyOutDir: true,
    assetsInlineLimit: 0, // nothing is a `data:` address, so that the policy of the page can forbid them
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" },
    chunkSizeWarningLimit: 2000,
  },
});
