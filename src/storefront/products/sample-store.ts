import { fileURLToPath } from 'node:url'
import type { FileStore } from './file-store.ts'
import { folderStore } from './folder-store.ts'
import { isUploaded } from './uploaded-folder.ts'

/**
 * Each tier contains the lower one, and each version the previous one. A later layer's file
 * replaces an earlier one's.
 */
const LAYERS: Record<string, string[]> = {
  'basic/1.0.0': ['basic-1.0.0'],
  'basic/1.1.0': ['basic-1.0.0', 'basic-1.1.0'],
  'pro/1.0.0': ['basic-1.0.0', 'pro-1.0.0'],
  'pro/1.1.0': ['basic-1.0.0', 'basic-1.1.0', 'pro-1.0.0', 'pro-1.1.0'],
  'enterprise/1.0.0': ['basic-1.0.0', 'pro-1.0.0', 'enterprise-1.0.0'],
  'enterprise/1.1.0': [
    'basic-1.0.0',
    'basic-1.1.0',
    'pro-1.0.0',
    'pro-1.1.0',
    'enterprise-1.0.0',
    'enterprise-1.1.0',
  ],
}

/**
 * A small sample product, sold while PRODUCTS_DIR is not set, so that the shop works at once.
 * Uploaded releases and the operator's pages (`_…`) lie in a folder beside it.
 */
export function sampleStore(uploads: FileStore): FileStore {
  const layers = folderStore(fileURLToPath(new URL('sample', import.meta.url)))
  return {
    isSample: true,
    async folders(under) {
      return Object.keys(LAYERS)
        .filter((release) => release.startsWith(`${under}/`))
        .map((release) => release.slice(under.length + 1))
    },

    async files(under) {
      if (isOwn(under)) return uploads.files(under)
      const found = await Promise.all((LAYERS[under] ?? []).map((layer) => layers.files(layer)))
      const newest = new Map(found.flat().map((file) => [file.path, file]))
      return [...newest.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
    },

    text: (path) => (isOwn(path) ? uploads : layers).text(path),
    put: (...file) => uploads.put(...file),
    remove: (under) => uploads.remove(under),
  }
}

const isOwn = (path: string) => path.startsWith('_') || isUploaded(path)
