/**
 * The processor's fees, read from the balance transactions of charges, refunds and disputes. A fee
 * is a detail: it stays null when the key may not read it or the object lacks one.
 */
import type { Stripe } from 'stripe'
import { readField, readList, readNumber, readText } from '../object-reader.ts'
import { isFinalAnswer } from '../processor.ts'
import type { Fee } from './tables.ts'

const WITH_TRANSACTIONS = { expand: ['data.balance_transaction'] }

/** Lists with balance transactions, or without them when the processor refuses to expand them. */
export async function listWithFees<P extends Stripe.PaginationParams, T>(
  list: (params: P & { expand?: string[] }) => Promise<T>,
  params: P,
): Promise<T> {
  try {
    return await list({ ...params, ...WITH_TRANSACTIONS })
  } catch (error) {
    if (!isFinalAnswer(error)) throw error
    return list(params)
  }
}

/** Lists all pages, as `listWithFees` does. */
export async function* listAllWithFees<P extends Stripe.PaginationParams, T>(
  list: (params: P & { expand?: string[] }) => AsyncIterable<T>,
  params: P,
): AsyncGenerator<T> {
  let isRead = false
  try {
    for await (const item of list({ ...params, ...WITH_TRANSACTIONS })) {
      isRead = true
      yield item
    }
  } catch (error) {
    if (isRead || !isFinalAnswer(error)) throw error
    yield* list(params)
  }
}

/** Sums the fees of an object's balance transactions; null when none was read. */
export function readFee(object: unknown): Fee {
  const fees = listTransactions(object).flatMap((transaction) => {
    const [cents, currency] = [readNumber(transaction, 'fee'), readText(transaction, 'currency')]
    return cents === null || currency === null ? [] : [{ cents, currency }]
  })
  const [first] = fees
  if (first === undefined) return { fee_cents: null, fee_currency: null }
  return {
    fee_cents: fees.reduce((sum, { cents }) => sum + cents, 0),
    fee_currency: first.currency,
  }
}

const listTransactions = (object: unknown): unknown[] => [
  readField(object, 'balance_transaction'),
  ...readList(readField(object, 'balance_transactions')),
]
