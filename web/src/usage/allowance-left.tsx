import { useQuery } from '@tanstack/react-query'
import { Stat } from '../components/stat.tsx'
import { allowanceQuery, describeRenewal } from './usage-query.ts'

/** Remaining allowance of this period in percent; nothing for plans without one. */
export function AllowanceLeft() {
  const { data } = useQuery(allowanceQuery)
  if (data?.limit_usd == null) return null
  const { limit_usd, used_usd, reserved_usd, renews_at } = data
  const left = limit_usd === 0 ? 0 : Math.max(0, 1 - (used_usd + reserved_usd) / limit_usd)
  return (
    <Stat label="Allowance left" note={`Your allowance ${describeRenewal(renews_at)}`}>
      {Math.floor(left * 100)} %
    </Stat>
  )
}
