/**
 * Limits the open connections per address, over both listeners. A connection stops counting once a
 * request on it has a valid credential, because a customer's server may stream a thousand answers
 * from one address. Proxies are not counted: all their clients share one address.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Config } from '#config/config.ts'
import type { Platform } from '../platform.ts'
import { addressKey, isInNetworks } from './address.ts'

const PER_ADDRESS = 500
const LOG_EVERY_MS = 60_000

export type ConnectionLimit = {
  /** Counts the connections that the server accepts. */
  watch(server: Server): void
  /** Stops counting the connection of an authenticated request. Runs after access control. */
  release(request: FastifyRequest): void
}

export function createConnectionLimit({
  config,
  clock,
  log,
  metrics,
}: Pick<Platform, 'clock' | 'log' | 'metrics'> & {
  config: Pick<Config, 'http'>
}): ConnectionLimit {
  const { connectionsPerAddress: setting, trustProxy } = config.http
  const max = typeof setting === 'number' ? setting : PER_ADDRESS
  // With a number of proxy hops configured, every connection comes from a proxy.
  const isOff = setting === 'off' || typeof trustProxy === 'number'
  const proxies = Array.isArray(trustProxy)
    ? trustProxy.flatMap((name) => NAMED[name] ?? [name])
    : []
  const open = new Map<string, number>()
  const releases = new WeakMap<Socket, () => void>()
  const refused = metrics.counts(
    'latchkey_connections_refused_total',
    'Connections that were closed unread',
    ['reason'],
  )
  let loggedMs = Number.NEGATIVE_INFINITY

  function accept(socket: Socket): void {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || isProxy(remoteAddress)) return
    const key = addressKey(remoteAddress)
    const count = (open.get(key) ?? 0) + 1
    if (count > max) {
      refuse(socket, key)
      return
    }
    open.set(key, count)
    const release = () => {
      releases.delete(socket)
      socket.off('close', release)
      const left = (open.get(key) ?? 1) - 1
      if (left > 0) open.set(key, left)
      else open.delete(key)
    }
    releases.set(socket, release)
    socket.once('close', release)
  }

  function isProxy(address: string): boolean {
    if (proxies.length > 0 && isInNetworks(proxies, address)) return true
    return setting === null && isNeighbour(address)
  }

  /** Closes the connection without a reply, because a reply would cost more than the connection. */
  function refuse(socket: Socket, address: string): void {
    socket.destroy()
    refused('address').value++
    if (clock.ms() - loggedMs < LOG_EVERY_MS) return
    loggedMs = clock.ms()
    log.warn(
      { address, max },
      `connections refused from ${address}: it holds ${max} without a credential`,
    )
  }

  return {
    watch: (server) => {
      if (!isOff) server.on('connection', accept)
    },
    release(request) {
      if (request.caller !== null) releases.get(request.raw.socket)?.()
    },
  }
}

/** The network names of the `proxy-addr` package. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

const NEIGHBOURS = Object.values(NAMED).flat()

const isNeighbour = (address: string) => isInNetworks(NEIGHBOURS, address)
