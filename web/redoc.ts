import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

/** Copies Redoc into the build, because production installs lack its package and serve it at /redoc. */
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
