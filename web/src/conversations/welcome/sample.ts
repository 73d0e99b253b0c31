import { queries } from '../../api/queries.ts'
import { uploadFile } from '../../api/upload.ts'
import { waitForDocument } from '../composer/attachments.ts'

const NAME = 'Workshop lease.pdf'
export const SAMPLE_QUESTION = 'How much is the deposit, and when do I get it back?'

/** Stores the sample document in the user’s library. */
export async function addSample(): Promise<void> {
  const response = await fetch('/sample-lease.pdf')
  if (!response.ok) throw new Error('The sample is missing')
  const file = new File([await response.blob()], NAME, { type: 'application/pdf' })
  const { signal } = new AbortController()
  const jobId = await uploadFile(file, { replaces: true, onProgress: () => undefined, signal })
  await waitForDocument(jobId, signal)
  await queries.invalidateQueries({ queryKey: ['documents'] })
}
