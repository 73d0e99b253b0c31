/**
 * Opens the ports: one listener for each server, or one for both that selects the server by the
 * Host header.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Config } from '#config/config.ts'
import { type App, CONNECTIONS_MAX } from '#platform/http/app.ts'
import { judgeBeforeContinue } from '#platform/http/bodies.ts'
import type { ConnectionLimit } from '#platform/http/connections.ts'
import { STOREFRONT_EVENTS } from '#storefront/payments/routes.ts'

export type Listener = {
  servers: readonly Server[]
  /** @throws Error for the operator when a port is taken. */
  listen(): Promise<void>
  /** Waits up to `drainMs` for running replies, then closes all connections. */
  close(drainMs: number): Promise<void>
}

/** `api` is the server on `PORT`. */
export function createListener(
  config: Config,
  connections: ConnectionLimit,
  api: App | null,
  storefront: App | null,
): Listener {
  const { port, storefrontPort } = config.http
  return api !== null && storefront !== null && port === storefrontPort && port !== 0
    ? onSharedPort(config, connections, api, storefront)
    : onOwnPorts(config, api, storefront)
}

function onOwnPorts({ http }: Config, api: App | null, storefront: App | null): Listener {
  const { host, port, storefrontPort } = http
  return {
    servers: [api, storefront].flatMap((app) => app?.server ?? []),
    async listen() {
      await api?.listen({ host, port }).catch((error) => explain(error, 'PORT', port))
      await storefront
        ?.listen({ host, port: storefrontPort })
        .catch((error) => explain(error, 'STOREFRONT_PORT', storefrontPort))
    },
    async close(drainMs) {
      await Promise.all(
        [api, storefront].map((app) => app && drained(app.server, drainMs, () => app.close())),
      )
    },
  }
}

function onSharedPort(
  { http, urls }: Config,
  connections: ConnectionLimit,
  api: App,
  storefront: App,
): Listener {
  const { host, port } = http
  const storefrontHost = new URL(urls.storefront).host
  // The payment processor may call the storefront's webhook with any host name; the sandbox uses a
  // loopback address.
  const isStorefronts = ({ headers, url }: IncomingMessage) =>
    headers.host === storefrontHost || url === STOREFRONT_EVENTS
  const { headersTimeout, requestTimeout, keepAliveTimeout } = api.server
  const server = createServer(
    { headersTimeout, requestTimeout, keepAliveTimeout },
    (request, response) => {
      const app = isStorefronts(request) ? storefront : api
      app.routing(request, response)
    },
  ).on('clientError', (error, socket) => api.server.emit('clientError', error, socket))
  server.maxConnections = CONNECTIONS_MAX
  connections.watch(server)
  judgeBeforeContinue(server)
  return {
    servers: [server],
    async listen() {
      await Promise.all([api.ready(), storefront.ready()])
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(port, host, resolve)
      }).catch((error) => explain(error, 'PORT', port))
    },
    async close(drainMs) {
      await drained(server, drainMs, () => new Promise((resolve) => server.close(resolve)))
      await Promise.all([api.close(), storefront.close()])
    },
  }
}

/**
 * Closes a server within `drainMs`. Clients keep connections open after their last reply, and Node
 * would wait for them. So idle connections are closed repeatedly.
 */
async function drained(
  server: Server,
  drainMs: number,
  close: () => Promise<unknown>,
): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), drainMs)
  const sweep = setInterval(() => server.closeIdleConnections(), 100)
  server.closeIdleConnections()
  await close().finally(() => {
    clearTimeout(timer)
    clearInterval(sweep)
  })
}

function explain(error: NodeJS.ErrnoException, setting: string, port: number): never {
  if (error.code === 'EADDRINUSE')
    throw new Error(
      `port ${port} is taken by another program: stop it, or set ${setting} to another port`,
    )
  if (error.code === 'EACCES')
    throw new Error(`port ${port} may not be opened by this user: set ${setting} to one above 1023`)
  throw error
}
