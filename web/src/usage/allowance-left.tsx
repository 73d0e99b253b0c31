import { useQuery } from '@tanstack/react-query'
import { Stat } from '../components/stat.tsx'
import { useRenewal } from './renewal.ts'
import { allowanceQuery } from './usage-query.ts'

/** Remaining allowance of this period in percent; nothing for plans without one. */
export function AllowanceLeft() {
  const { data } = useQuery(allowanceQuery)
  const renewal = useRenewal(data?.renews_at ?? null)
  if (data?.limit_usd == null) return null
  const { limit_usd, used_usd, reserved_usd } = data
  const left = limit_usd === 0 ? 0 : Math.max(0, 1 - (used_usd + reserved_usd) / limit_usd)
  return (
    <Stat label="Allowance left" note={`Your allowance ${renewal}`}>
      {Math.floor(left * 100)} %
    </Stat>
  )
}
