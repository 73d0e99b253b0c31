// A bare node:http server that holds its thread for as long as it is told, with the service's own turns: what nobody can be quicker than.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'
import { createTurns } from '#rag/search/turns.ts'

const turns = createTurns()
const server = createServer((request, response) => {
  const { user = '', ms = '0' } = request.headers as Record<string, string>
  const spin = async () => {
    const until = performance.now() + Number(ms)
    while (performance.now() < until);
  }
  request
    .resume()
    .on('end', () =>
      turns.during(user, () => turns.take(user, spin)).then(() => response.end('{}')),
    )
})
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))
