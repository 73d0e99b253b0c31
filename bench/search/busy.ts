// A worker thread that keeps so many searches in flight, so that who is measured beside them does not wait for their client.
import { workerData } from 'node:worker_threads'

export type Busy = {
  url: string
  headers: Record<string, string>[]
  bodies: string[]
  inFlight: number
}

const { url, headers, bodies, inFlight } = workerData as Busy

for (let from = 0; from < inFlight; from++) void ask(from)

async function ask(from: number): Promise<void> {
  for (let i = from; ; i += inFlight) {
    const reply = await fetch(url, {
      method: 'POST',
      headers: headers[i % headers.length] ?? {},
      body: bodies[i % bodies.length] ?? '',
    })
    await reply.arrayBuffer()
  }
}
