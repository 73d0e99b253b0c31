/**
 * Implements `expand[]`: replaces ids by their objects along dotted paths, through lists with
 * `data.`.
 */
import type { Stripe } from 'stripe'
import { listLineItems } from './checkout-sessions.ts'
import type { ProcessorDeps } from './deps.ts'
import { badParameter } from './fault.ts'
import { listPayments } from './invoices.ts'
import { get, type StripeObject } from './objects.ts'

type Node = Record<string, unknown>

export function expandObject<T>(deps: ProcessorDeps, value: T, paths: readonly string[]): T {
  const copy = structuredClone(value) as Node
  for (const path of paths) {
    walk(deps, copy, path.split('.'), path)
  }
  return copy as T
}

function walk(deps: ProcessorDeps, node: Node, [head, ...rest]: string[], path: string): void {
  if (head === undefined) return
  const value = findIncluded(deps, node, head) ?? node[head]
  if (value === undefined)
    throw badParameter('expand', `This property cannot be expanded (${path}).`)
  if (value === null) return

  if (Array.isArray(value)) {
    node[head] = value.map((one) => loadObject(deps, one))
    for (const item of node[head] as Node[])
      if (rest.length > 0 && typeof item === 'object') walk(deps, item, rest, path)
    return
  }
  const inner = loadObject(deps, value)
  node[head] = inner
  if (rest.length > 0 && typeof inner === 'object' && inner !== null)
    walk(deps, inner as Node, rest, path)
}

function loadObject(deps: ProcessorDeps, value: unknown): unknown {
  return typeof value === 'string' ? (get(deps, value) ?? value) : value
}

/** Properties that a reply contains only on request. */
function findIncluded(deps: ProcessorDeps, node: Node, name: string): unknown {
  const it = node as unknown as StripeObject
  if (it.object === 'checkout.session' && name === 'line_items')
    return asList(
      listLineItems(deps, node as unknown as Stripe.Checkout.Session),
      `/v1/checkout/sessions/${it.id}/line_items`,
    )
  if (it.object === 'invoice' && name === 'payments')
    return asList(listPayments(deps, it.id), `/v1/invoice_payments?invoice=${it.id}`)
  return undefined
}

export function asList<T>(
  data: T[],
  url: string,
): { object: 'list'; data: T[]; has_more: boolean; url: string } {
  return { object: 'list', data, has_more: false, url }
}
