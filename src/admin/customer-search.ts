/** Finds the customers that a reference names: a license key, an invoice, a request or a card. */
import { findPayers } from '#billing/money/customer.ts'
import { UUID } from '#identity/admin/user-search.ts'
import type { Platform } from '#platform/platform.ts'
import { findBuyer } from '#storefront/orders/customer.ts'
import { findRequestOwner } from '#usage/request-owner.ts'

/**
 * Returns users by a license key, a payment or an order, an invoice, a customer at the processor,
 * a request id, or the last four digits of a card. Only whole values match.
 */
export async function findReferencedUsers(
  deps: Pick<Platform, 'db' | 'secrets'>,
  reference: string,
): Promise<string[]> {
  // Addresses are found by their text. An id may be of letters alone.
  if (reference.includes('@')) return []
  const [buyer, payers, requester] = await Promise.all([
    findBuyer(deps, reference),
    findPayers(deps.db, reference),
    UUID.test(reference) ? findRequestOwner(deps.db, reference.toLowerCase()) : null,
  ])
  return [...new Set([buyer, requester, ...payers].filter((id) => id !== null))]
}
