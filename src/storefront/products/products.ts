import { type Clock, systemClock } from '#platform/clock.ts'
import type { S3Settings } from '#platform/s3/bucket.ts'
import type { FileStore, LeaveOut } from './file-store.ts'
import { folderStore } from './folder-store.ts'
import { rememberedStore } from './remembered-store.ts'
import { s3Store } from './s3-store.ts'
import { sampleStore } from './sample-store.ts'

export type ProductSettings = {
  /** A folder, `s3://bucket/prefix`, or null for the sample product. */
  location: string | null
  /** Where uploaded releases go beside the sample. */
  uploads: string
  s3: S3Settings
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

function createStore({ location, uploads, s3 }: ProductSettings, leaveOut: LeaveOut): FileStore {
  if (location === null) return sampleStore(folderStore(uploads, leaveOut))
  if (!location.startsWith('s3://')) return folderStore(location, leaveOut)
  return s3Store(location, s3, leaveOut)
}
