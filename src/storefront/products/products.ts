import type { FileStore } from './file-store.ts'
import { folderStore } from './folder-store.ts'
import { s3Store } from './s3-store.ts'
import { sampleStore } from './sample-store.ts'

export interface ProductSettings {
  /** A folder, `s3://bucket/prefix`, or null for the sample product. */
  location: string | null
  s3: {
    endpoint: string | null
    region: string
    accessKeyId: string | null
    secretAccessKey: string | null
    sessionToken: string | null
  }
}

export function openProducts({ location, s3 }: ProductSettings): FileStore {
  if (location === null) return sampleStore()
  if (!location.startsWith('s3://')) return folderStore(location)

  const { hostname: bucket, pathname } = new URL(location)
  const { accessKeyId, secretAccessKey, sessionToken } = s3
  return s3Store({
    bucket,
    prefix: decodeURIComponent(pathname).replace(/^\/+|\/+$/g, ''),
    endpoint: s3.endpoint,
    region: s3.region,
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, sessionToken } : null,
  })
}
