import { useEffect, useRef, useState } from 'react'
import { ApiProblem, messageOf } from '../api/problem.ts'
import { queries } from '../api/queries.ts'
import type { IngestWarning } from '../api/types.ts'
import { uploadFile } from '../api/upload.ts'
import { newId } from '../components/new-id.ts'

export type UploadState =
  | { kind: 'waiting' }
  | { kind: 'sending'; sent: number }
  | { kind: 'reading' }
  | { kind: 'done'; chunks: number; warnings: IngestWarning[] }
  | { kind: 'failed'; reason: string; retriable: boolean }

export type Upload = { id: string; file: File; state: UploadState }

/** Two at a time: more would only make each slower, and one bad file should not hold up the rest. */
const AT_ONCE = 2

/** Files on their way to the service, each with its own progress, failure and retry. */
export function useUploads() {
  const [list, setList] = useState<Upload[]>([])
  const controllers = useRef(new Map<string, AbortController>())

  useEffect(() => {
    const running = list.filter(({ state }) => state.kind === 'sending' || state.kind === 'reading').length
    const next = list.find(({ state }) => state.kind === 'waiting')
    if (next && running < AT_ONCE) void start(next)
  })

  // Leaving the page stops what is still being sent: nobody would see how it ended.
  useEffect(() => {
    const open = controllers.current
    return () => {
      for (const controller of open.values()) controller.abort()
    }
  }, [])

  async function start({ id, file }: Upload) {
    const controller = new AbortController()
    controllers.current.set(id, controller)
    set(id, { kind: 'sending', sent: 0 })
    try {
      const { chunks_created, warnings } = await uploadFile(file, {
        signal: controller.signal,
        onProgress: (sent) => set(id, sent < 1 ? { kind: 'sending', sent } : { kind: 'reading' }),
      })
      set(id, { kind: 'done', chunks: chunks_created, warnings })
      void queries.invalidateQueries({ queryKey: ['documents'] })
    } catch (error) {
      if (controller.signal.aborted) return
      set(id, {
        kind: 'failed',
        reason: error instanceof ApiProblem ? messageOf(error) : 'The upload broke off.',
        retriable: mayPass(error),
      })
    } finally {
      controllers.current.delete(id)
    }
  }

  function set(id: string, state: UploadState) {
    setList((uploads) => uploads.map((upload) => (upload.id === id ? { ...upload, state } : upload)))
  }

  return {
    list,
    add: (files: File[]) =>
      setList((uploads) => [
        ...uploads,
        ...files.map((file): Upload => ({ id: newId(), file, state: { kind: 'waiting' } })),
      ]),
    retry: (id: string) => set(id, { kind: 'waiting' }),
    remove: (id: string) => {
      controllers.current.get(id)?.abort()
      setList((uploads) => uploads.filter((upload) => upload.id !== id))
    },
  }
}

/** A file that the service has read and refused stays refused; what never arrived, or came too often, may pass the next time. */
function mayPass(error: unknown): boolean {
  return !(error instanceof ApiProblem) || ![400, 413, 415, 422].includes(error.status)
}
