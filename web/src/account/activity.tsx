import { Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { AuditEntry } from '../api/types.ts'
import { moment } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Panel } from './panel.tsx'

const SHOWN = 20

/** What happened to the account of late: who tried to get in, and what was changed. */
export function Activity() {
  const query = { limit: SHOWN }
  const audit = useQuery({
    queryKey: ['audit'],
    queryFn: ({ signal }) => api.get('/api/users/me/audit', { query, signal }),
  })
  return (
    <Panel title="Recent activity" lead="Sign-ins, refused ones, and changes of what opens the account.">
      <Loaded query={audit} skeleton={<Skeleton h={160} />}>
        {({ entries }) => (
          <Stack gap="xs">
            {entries.map((entry) => (
              <div key={entry.id}>
                <Text>{wordsOf(entry)}</Text>
                <Text c="dimmed" size="sm">
                  {[moment(entry.at), ...addressesOf(entry)].join(', ')}
                </Text>
              </div>
            ))}
          </Stack>
        )}
      </Loaded>
    </Panel>
  )
}

export const WORDS: Readonly<Record<string, string>> = {
  'sign-in': 'Signed in',
  'sign-in.codes-guessed': 'Wrong codes were tried after the right password',
  'sign-in.closed': 'Too many wrong codes: the password was closed to unknown devices',
  registered: 'Account made',
  'email.verified': 'Email address verified',
  'email.changed': 'Email address changed',
  'email.restored': 'Change of the email address undone',
  'password.changed': 'Password changed',
  'password.reset': 'Password reset',
  'password.removed': 'Password removed',
  'totp.on': 'Two-factor turned on',
  'totp.off': 'Two-factor turned off',
  'passkey.added': 'Passkey added',
  'passkey.removed': 'Passkey removed',
  'provider.linked': 'Provider linked',
  'provider.unlinked': 'Provider unlinked',
  'session.ended': 'Session ended',
  'sessions.ended': 'All other sessions ended',
  'session.replayed': 'A session was ended, since an old token of it was used',
  'api-keys.revoked': 'API keys revoked',
  'superuser.added': 'Made a superuser',
  'user.changed': 'Changed by a superuser',
}

export function wordsOf({ action, data }: AuditEntry): string {
  if (action !== 'sign-in.failed') return WORDS[action] ?? action
  const attempts = Number(data?.attempts ?? 1)
  return attempts === 1 ? 'A sign-in was refused' : `${attempts} sign-ins were refused`
}

export function addressesOf({ data }: AuditEntry): string[] {
  const { address, addresses } = data ?? {}
  const all = Array.isArray(addresses) ? addresses : [address]
  return all.filter((one) => typeof one === 'string')
}
