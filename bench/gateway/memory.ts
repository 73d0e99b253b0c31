// Reads a process's heap after a full collection through the inspector. Between collections the
// heap grows to a height that the engine chooses, so the memory of a process without a leak still
// rises for minutes.

export type Heap = {
  /** Returns the megabytes in use after a collection. */
  afterCollection(): Promise<number>
  close(): void
}

/** Connects to a process that was started with the arguments of `inspectArgs`. */
export async function watchHeap(inspectPort: number): Promise<Heap> {
  const reply = await fetch(`http://127.0.0.1:${inspectPort}/json`)
  const [target] = (await reply.json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })

  let lastId = 0
  const ask = (method: string, params: object = {}) =>
    new Promise<{ result?: { value: number } }>((resolve) => {
      const id = ++lastId
      const onMessage = ({ data }: MessageEvent) => {
        const message = JSON.parse(String(data)) as {
          id: number
          result: { result?: { value: number } }
        }
        if (message.id !== id) return
        socket.removeEventListener('message', onMessage)
        resolve(message.result)
      }
      socket.addEventListener('message', onMessage)
      socket.send(JSON.stringify({ id, method, params }))
    })

  return {
    async afterCollection() {
      await ask('HeapProfiler.collectGarbage')
      const { result } = await ask('Runtime.evaluate', {
        expression: 'process.memoryUsage().heapUsed',
      })
      return (result?.value ?? Number.NaN) / 1024 / 1024
    },
    close: () => socket.close(),
  }
}

export function inspectArgs(port: number | undefined): string[] {
  return port === undefined ? [] : [`--inspect=127.0.0.1:${port}`, '--inspect-publish-uid=http']
}
