// How the page is built and, with `npm run dev`, served beside a running postkeep with hot reload.
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

interface Graph {
  getModuleInfo(id: string): { isEntry: boolean; importers: readonly string[] } | null
}

/** What the first screen needs is one file, whatever else shares parts of it: each file more is a request more. */
function firstScreen(id: string, graph: Graph, asked = new Set<string>()): boolean {
  const found = graph.getModuleInfo(id)
  if (!found || asked.has(id)) return false
  asked.add(id)
  return found.isEntry || found.importers.some((importer) => firstScreen(importer, graph, asked))
}

/** Small, and asked for by the card at once. */
const SHARED = /src\/state\/way|src\/parts\/Copy\.svelte|src\/i18n\/(card|translate)/
/** What an empty list, connect and entry share: one file too. */
const SAMPLES = /src\/samples\/|src\/i18n\/(en\/)?entry|src\/parts\/(Door|Samples|TestMail)\.svelte|src\/state\/testmail/

const server = new URL(process.env.POSTKEEP_URL ?? 'http://127.0.0.1:8025')

export default defineConfig({
  // Relative, so that the page works under any prefix: `<base>` in index.html, which the server fills, decides.
  base: './',
  plugins: [svelte()],
  build: {
    target: 'es2022',
    // The page's policy allows no inlined data but images, and no preload helper that writes styles.
    assetsInlineLimit: 0,
    modulePreload: false,
    // One sheet: each more would be a request more, for little.
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: (id, graph) => (firstScreen(id, graph) || SHARED.test(id) ? 'page' : null), priority: 2 },
            { name: 'samples', test: SAMPLES, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    port: 5173,
    proxy: {
      // The server answers only to its own name and origin, so the proxy speaks in them.
      '/api': {
        target: server.origin,
        changeOrigin: true,
        headers: { origin: server.origin },
      },
    },
  },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
})
