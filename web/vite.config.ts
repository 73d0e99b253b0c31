import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import mantine from 'postcss-preset-mantine'
import { defineConfig } from 'vite'
import { listOperations } from '../src/app/api-reference.ts'
import { brandMeta } from './brand-meta.ts'
import { CHUNKS } from './chunks.ts'
import { mantineStyles } from './mantine-styles.ts'
import { precompress } from './precompress.ts'
import { redoc } from './redoc.ts'
import { shellFirst } from './shell-first.ts'
import { texts } from './texts.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const readDescription = () => JSON.parse(readFileSync(here('../docs/openapi.json'), 'utf8'))

// `npm run build` writes web/dist, which the service serves. `npm run dev` and `vite web` serve the sources and proxy the API to
// API_URL, by default http://localhost:8000.
const service = process.env.API_URL ?? 'http://localhost:8000'
// The sandbox rejects forwarded requests.
const proxiedPaths = [
  '/api',
  '/brand',
  '/manifest.webmanifest',
  '/v1',
  '/sandbox',
  '/readyz',
  '/healthz',
  '/docs',
  '/redoc',
  '/openapi.json',
  '/.well-known',
]

/** Pages of operators and developers. Their addresses name no files to load early, because that list is in the first file of every page. */
const RARE_PAGES =
  /\/(?:account-view|api-keys|brand|build-page|calls|customer|discount|dispute|inbox|message|model|money|new-product|order|playground|product|release|run|service-pages|setup|shop|time-machine|today|usage-page)[a-z-]*-[\w-]{8}\.js$/

const listPreloads = (page: string, files: string[]) =>
  RARE_PAGES.test(`/${page}`) ? files.filter((file) => file.endsWith('.css')) : files

export default defineConfig(({ command }) => {
  // Always build for production, because React's development build is slow and the service may run with another NODE_ENV.
  if (command === 'build') process.env.NODE_ENV = 'production'
  return {
    root: here('.'),
    plugins: [
      react(),
      brandMeta(),
      mantineStyles(),
      shellFirst(),
      texts(),
      precompress(here('./dist')),
      redoc(),
    ],
    define: {
      __OPERATIONS__: JSON.stringify(listOperations(readDescription())),
    },
    // React has this since version 18.
    resolve: {
      alias: {
        'use-sync-external-store/shim/with-selector': 'use-sync-external-store/with-selector',
      },
    },
    css: { postcss: { plugins: [mantine()] } },
    build: {
      outDir: here('./dist'),
      emptyOutDir: true,
      target: 'es2023',
      // The page's policy allows images from data: but scripts and styles only as separate files.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false, resolveDependencies: listPreloads },
      chunkSizeWarningLimit: 700,
      rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
    },
    server: {
      port: 5173,
      proxy: Object.fromEntries(
        proxiedPaths.map((path) => [path, { target: service, xfwd: path !== '/sandbox' }]),
      ),
    },
  }
})
