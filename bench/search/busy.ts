// A worker thread that runs searches continuously, so that their client does not delay the measured
// searches.
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
