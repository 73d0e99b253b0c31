/**
 * Logs rejected authorizations (ASVS 16.3.2): caller, address and route. Writes one line a minute
 * for each caller and reason, with the number of rejections in between.
 */
import type { FastifyRequest } from 'fastify'
import type { Problem } from '../problem.ts'
import { seldom } from '../telemetry/log.ts'

/** Beyond this the counters restart, so that rejected requests cannot fill the memory. */
const REMEMBERED_MAX = 1_000

const FORBIDDEN = 403

const writers = new WeakMap<object, Map<string, ReturnType<typeof seldom>>>()

/** Anonymous callers are refused by every route and counted in the metrics only. */
export function logRefusal(request: FastifyRequest, { code, status }: Problem): void {
  const { caller, log } = request
  if (status !== FORBIDDEN || !caller) return
  const known = writers.get(log) ?? new Map<string, ReturnType<typeof seldom>>()
  writers.set(log, known)
  const key = `${caller.userId} ${code}`
  if (!known.has(key) && known.size >= REMEMBERED_MAX) known.clear()
  const write = known.get(key) ?? seldom((details, message) => log.warn(details, message))
  known.set(key, write)
  const { userId, keyId } = caller
  const target = { method: request.method, route: request.routeOptions.url }
  write({ code, userId, keyId, address: request.ip, ...target, reqId: request.id }, 'refused')
}
