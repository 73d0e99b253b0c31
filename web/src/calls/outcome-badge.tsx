import { Badge } from '@mantine/core'
import type { Call } from '../api/types.ts'
import { t } from '../language/text.ts'

const NAMES = { ok: 'OK', failed: t('Failed'), cancelled: t('Cancelled|call') } as const
const COLORS = { ok: 'pine', failed: 'red', cancelled: 'gray' } as const

/** A call's outcome, with the HTTP status of failures. */
export function OutcomeBadge({
  call: { outcome, status },
}: {
  call: Pick<Call, 'outcome' | 'status'>
}) {
  return (
    <Badge color={COLORS[outcome]} style={{ flexShrink: 0 }}>
      {NAMES[outcome]}
      {outcome === 'failed' && ` ${status}`}
    </Badge>
  )
}
