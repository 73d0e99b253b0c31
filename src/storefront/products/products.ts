import { type Clock, systemClock } from '#platform/clock.ts'
import type { FileStore, LeaveOut } from './file-store.ts'
import { folderStore } from './folder-store.ts'
import { rememberedStore } from './remembered-store.ts'
import { s3Store } from './s3-store.ts'
import { sampleStore } from './sample-store.ts'

export type ProductSettings = {
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

type ProductOptions = {
  clock?: Pick<Clock, 'ms'>
  leaveOut?: LeaveOut
  tell?: (error: unknown) => void
}

export function openProducts(
  settings: ProductSettings,
  { clock = systemClock, leaveOut = () => {}, tell = () => {} }: ProductOptions = {},
): FileStore {
  return rememberedStore(createStore(settings, leaveOut), { clock, tell })
}

function createStore({ location, s3 }: ProductSettings, leaveOut: LeaveOut): FileStore {
  if (location === null) return sampleStore()
  if (!location.startsWith('s3://')) return folderStore(location, leaveOut)

  const { hostname: bucket, pathname } = new URL(location)
  const { accessKeyId, secretAccessKey, sessionToken } = s3
  const place = {
    bucket,
    prefix: decodeURIComponent(pathname).replace(/^\/+|\/+$/g, ''),
    endpoint: s3.endpoint,
    region: s3.region,
    credentials:
      accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, sessionToken } : null,
  }
  return s3Store(place, leaveOut)
}
