// A bare node:http server that blocks its thread as long as a search of the service: a lower bound
// for the service.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'

const server = createServer((request, response) => {
  const { ms = '0' } = request.headers as Record<string, string>
  request.resume().on('end', () => {
    const until = performance.now() + Number(ms)
    while (performance.now() < until);
    response.end('{}')
  })
})
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))
