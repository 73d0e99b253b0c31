import type { Plugin } from 'vite'
import { LiveBrand } from '../src/brand/live.ts'
import { buildPageBrand } from '../src/brand/page-brand.ts'
import { escapeHtml } from '../src/platform/http/html.ts'

/** Writes the built-in brand into the page of the development server. The service writes its own. */
export function brandMeta(): Plugin {
  return {
    name: 'latchkey-brand-meta',
    apply: 'serve',
    transformIndexHtml: (html) =>
      html.replace('{{brand}}', () =>
        escapeHtml(
          JSON.stringify(
            buildPageBrand(new LiveBrand('Latchkey'), { docs: 'http://localhost:8001/docs' }),
          ),
        ),
      ),
  }
}
