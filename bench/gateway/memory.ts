// What a process keeps: its heap after a full collection, asked for over the inspector. Between collections a heap is a
// sawtooth whose height the engine chooses, so that the memory of a process that leaks nothing still rises for minutes.

export type Heap = {
  /** Megabytes in use after a collection. */
  afterCollection(): Promise<number>
  close(): void
}

/** The process was started with what `inspectArgs` says. */
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
