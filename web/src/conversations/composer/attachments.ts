import { useEffect, useRef, useState } from 'react'
import { api } from '../../api/client.ts'
import { ApiProblem, formatProblem } from '../../api/problem.ts'
import { queries } from '../../api/queries.ts'
import { uploadFile } from '../../api/upload.ts'
import { newId } from '../../components/new-id.ts'
import { translateProblem } from '../../language/problem-text.ts'
import { t } from '../../language/text.ts'
import type { ImageType, Part } from '../api.ts'

export type Attachment = {
  id: string
  name: string
} & (
  | { kind: 'image'; mediaType: ImageType; data: string }
  | {
      kind: 'file'
      state: 'sending' | 'reading' | 'ready' | 'failed'
      documentId: string | null
      problem: string | null
    }
)

const IMAGE_TYPES: ImageType[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
const IMAGE_BYTES_MAX = 5_000_000
export const IMAGES_MAX = 8
const POLL_MS = 1_000

/** Images travel with the question. Other files go to the library, and the question names them. */
export function useAttachments() {
  const [list, setList] = useState<Attachment[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const controllers = useRef(new Map<string, AbortController>())

  useEffect(() => {
    const open = controllers.current
    return () => {
      for (const controller of open.values()) controller.abort()
    }
  }, [])

  const change = (id: string, state: Partial<Attachment>) =>
    setList((all) => all.map((one) => (one.id === id ? ({ ...one, ...state } as Attachment) : one)))

  async function add(files: File[]) {
    setProblem(null)
    let images = list.filter(({ kind }) => kind === 'image').length
    for (const file of files) {
      const mediaType = IMAGE_TYPES.find((type) => type === file.type)
      if (mediaType === undefined) {
        void store(file)
        continue
      }
      images += 1
      if (images > IMAGES_MAX) return setProblem(t('A message can have {0} pictures.', IMAGES_MAX))
      if (file.size > IMAGE_BYTES_MAX) {
        setProblem(t('{0} is larger than 5 MB.', file.name))
        continue
      }
      const data = await readBase64(file)
      const image = {
        kind: 'image',
        id: newId(),
        name: file.name,
        mediaType,
        data,
      } as const
      setList((all) => [...all, image])
    }
  }

  async function store(file: File) {
    const id = newId()
    const controller = new AbortController()
    controllers.current.set(id, controller)
    const added = {
      kind: 'file',
      id,
      name: file.name,
      state: 'sending',
      documentId: null,
      problem: null,
    } as const
    setList((all) => [...all, added])
    const { signal } = controller
    try {
      const jobId = await uploadFile(file, { replaces: false, onProgress: () => undefined, signal })
      change(id, { state: 'reading' })
      change(id, { state: 'ready', documentId: await waitForDocument(jobId, signal) })
      void queries.invalidateQueries({ queryKey: ['documents'] })
    } catch (error) {
      if (signal.aborted) return
      change(id, { state: 'failed', problem: describe(error) })
    }
  }

  return {
    list,
    problem,
    isBusy: list.some((one) => one.kind === 'file' && ['sending', 'reading'].includes(one.state)),
    add: (files: File[]) => void add(files),
    remove: (id: string) => {
      controllers.current.get(id)?.abort()
      setList((all) => all.filter((one) => one.id !== id))
    },
    clear: () => setList([]),
  }
}

export type Attachments = ReturnType<typeof useAttachments>

/** Returns the parts of a message for its attachments. */
export function buildParts(list: Attachment[]): Part[] {
  return list.flatMap((one): Part[] => {
    if (one.kind === 'image') return [{ type: 'image', media_type: one.mediaType, data: one.data }]
    return one.documentId === null
      ? []
      : [{ type: 'document', document_id: one.documentId, name: one.name }]
  })
}

/** Resolves when the service has stored an upload. */
export async function waitForDocument(id: string, signal: AbortSignal): Promise<string> {
  for (;;) {
    const job = await api.get('/api/library/jobs/{id}', {
      path: { id },
      signal,
      // The service would stream the job’s progress.
      accept: 'application/json',
    })
    const [documentId] = job.document_ids
    if (job.state === 'done' && documentId !== undefined) return documentId
    if (job.state === 'failed' || job.state === 'done')
      throw new Error(
        job.error
          ? translateProblem(job.error.code, job.error.detail)
          : t('Couldn’t read this file.'),
      )
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function describe(error: unknown): string {
  if (error instanceof ApiProblem) return formatProblem(error)
  return error instanceof Error ? error.message : t('Couldn’t upload this file.')
}

async function readBase64(file: File): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
  return url.slice(url.indexOf(',') + 1)
}
