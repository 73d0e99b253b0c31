import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

/** Lays Redoc beside the app: a production install, which has none of the packages that build, serves it at /redoc. */
export function redoc(): Plugin {
  return {
    name: 'latchkey-redoc',
    apply: 'build',
    generateBundle() {
      const path = fileURLToPath(import.meta.resolve('redoc/bundles/redoc.standalone.js'))
      this.emitFile({ type: 'asset', fileName: 'redoc.js', source: readFileSync(path) })
    },
  }
}
