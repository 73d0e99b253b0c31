import type { Subscription } from '../api/types.ts'
import { day } from '../components/format.ts'

type Running = Pick<Subscription, 'status' | 'current_period_end' | 'cancel_at_period_end'>

/** When the plan renews or ends; null where nothing runs, or a missing payment has yet to decide it. */
export function termOf({ status, current_period_end: end, cancel_at_period_end: ends }: Running): string | null {
  if (end === null) return null
  if (ends) return `Ends on ${day(end)}. Until then everything stays open.`
  return status === 'active' ? `Renews on ${day(end)}.` : null
}
