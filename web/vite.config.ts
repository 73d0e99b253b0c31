import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import mantine from 'postcss-preset-mantine'
import { defineConfig } from 'vite'
import { precompress } from './precompress.ts'
import { redoc } from './redoc.ts'
import { shellFirst } from './shell-first.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// `npm run build` writes web/dist, which the service serves. `npm run dev` and `vite web` serve the sources instead and pass
// what belongs to the service on to it (API_URL, by default the service's own default address).
const service = process.env.API_URL ?? 'http://localhost:8000'
// The sandbox answers nobody whom a proxy speaks for.
const passedOn = [
  '/api',
  '/v1',
  '/sandbox',
  '/readyz',
  '/healthz',
  '/docs',
  '/redoc',
  '/openapi.json',
  '/.well-known',
]

export default defineConfig(({ command }) => {
  // What is built is for people, whatever NODE_ENV the service itself runs with: React has a slow build for developers.
  if (command === 'build') process.env.NODE_ENV = 'production'
  return {
    root: here('.'),
    plugins: [react(), shellFirst(), precompress(here('./dist')), redoc()],
    css: { postcss: { plugins: [mantine()] } },
    build: {
      outDir: here('./dist'),
      emptyOutDir: true,
      target: 'es2023',
      // The page's policy allows images from data: but scripts and styles only as files of their own.
      assetsInlineLimit: 0,
      // One sheet, 6 KB larger than the first page needs: it stands in the body, and sheets of pages, in the head, would come before it.
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 700,
    },
    server: {
      port: 5173,
      proxy: Object.fromEntries(
        passedOn.map((path) => [path, { target: service, xfwd: path !== '/sandbox' }]),
      ),
    },
  }
})
