import { useQuery } from '@tanstack/react-query'
import { readinessQuery } from '../api/readiness.ts'
import { MenuItems } from './menu-items.tsx'
import { RUN, TIME_MACHINE } from './run-pages.ts'

export function RunMenu({ onSelect }: { onSelect: () => void }) {
  const { data } = useQuery(readinessQuery)
  const items = data?.billing === 'sandbox' ? [...RUN, TIME_MACHINE] : RUN
  return <MenuItems items={items} onSelect={onSelect} />
}
