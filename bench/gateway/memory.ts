// What a process keeps: its heap after a full collection, asked for over the inspector. Between collections a heap is a
// sawtooth whose height the engine chooses, so that the memory of a process that leaks nothing still rises for minutes.

/** Megabytes in use on the heap after a collection, of a process that was started with `--inspect=127.0.0.1:port`. */
export async function heapAfterCollection(inspectPort: number): Promise<number> {
  const targets = (await (await fetch(`http://127.0.0.1:${inspectPort}/json`)).json()) as {
    webSocketDebuggerUrl: string
  }[]
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '')
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  const ask = (id: number, method: string, params: object = {}) =>
    new Promise<{ result: { result?: { value: number } } }>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        const message = JSON.parse(String(data))
        if (message.id === id) resolve(message)
      })
      socket.send(JSON.stringify({ id, method, params }))
    })
  await ask(1, 'HeapProfiler.collectGarbage')
  const { result } = await ask(2, 'Runtime.evaluate', { expression: 'process.memoryUsage().heapUsed' })
  socket.close()
  return (result.result?.value ?? Number.NaN) / 1024 / 1024
}
