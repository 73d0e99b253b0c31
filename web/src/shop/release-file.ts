import type { StoreRelease } from '../api/types.ts'
import { type FormUpload, sendForm } from '../api/upload.ts'

type Sending = Pick<FormUpload, 'onProgress' | 'signal'> & {
  tier: string
  version: string
  notes: string
  file: File
}

/** Uploads a ZIP as a draft. */
export async function uploadRelease(sending: Sending): Promise<StoreRelease> {
  const { tier, version, notes, file, onProgress, signal } = sending
  const form = new FormData()
  form.append('version', version.trim())
  form.append('notes', notes)
  form.append('file', file)
  const address = `/api/admin/products/${encodeURIComponent(tier)}/releases`
  return (await sendForm({ address, form, onProgress, signal })) as StoreRelease
}
