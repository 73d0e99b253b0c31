import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { AdminUser } from '../api/types.ts'
import { SelectFilter } from '../components/filters.tsx'
import { customersQuery } from '../customers/customers-query.ts'
import { t } from '../language/text.ts'

const PAUSE_MS = 250

/** Chooses a customer by any part of their name or address. `value` is the id of the chosen one. */
export function CustomerFilter({ value }: { value: string | undefined }) {
  const [typed, setTyped] = useState('')
  const [q] = useDebouncedValue(typed.trim(), PAUSE_MS)
  const chosen = useQuery({ ...customersQuery({ q: value }), enabled: value !== undefined })
  const found = useQuery({ ...customersQuery({ q }), enabled: q !== '' })
  const users = new Map(
    [...(value ? (chosen.data?.users ?? []) : []), ...(found.data?.users ?? [])].map((user) => [
      user.id,
      user,
    ]),
  )
  return (
    <SelectFilter
      name="user"
      label={t('Customer')}
      placeholder={t('Any customer')}
      searchable
      onSearchChange={setTyped}
      // The service has searched.
      filter={({ options }) => options}
      nothingFoundMessage={q === '' ? t('Type a name or an address') : t('No customer found')}
      data={[...users.values()].map((user) => ({ value: user.id, label: nameUser(user) }))}
    />
  )
}

function nameUser({ email, full_name }: AdminUser): string {
  return full_name ? `${full_name}, ${email}` : email
}
