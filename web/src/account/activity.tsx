import { Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { t } from '../language/text.ts'
import { describeEvent, readAddresses } from './audit-words.ts'
import { Panel } from './panel.tsx'

const SHOWN = 20

/** The account's newest security events. */
export function Activity() {
  const query = { limit: SHOWN }
  const audit = useQuery({
    queryKey: ['audit'],
    queryFn: ({ signal }) => api.get('/api/users/me/audit', { query, signal }),
  })
  return (
    <Panel
      title={t('Recent activity')}
      lead={t('Sign-ins, failed sign-ins, and changes to your sign-in settings.')}
    >
      <Loaded query={audit} skeleton={<Skeleton h={160} />}>
        {({ entries }) => (
          <Stack gap="xs">
            {entries.map((entry) => (
              <div key={entry.id}>
                <Text>{describeEvent(entry)}</Text>
                <Text c="dimmed" size="sm">
                  {[formatTime(entry.at), ...readAddresses(entry)].join(', ')}
                </Text>
              </div>
            ))}
          </Stack>
        )}
      </Loaded>
    </Panel>
  )
}
