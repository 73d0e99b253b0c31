import { createServer } from 'node:net'

/** Finds two free ports of this machine. Both are held until both are known, so they differ. */
export async function findFreePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()] as const
  const ports = servers.map(async (server) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as { port: number }).port
  })
  const [port = 0, storePort = 0] = await Promise.all(ports)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return [port, storePort]
}
