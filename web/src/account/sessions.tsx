import { Badge, Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries, readQuery } from '../api/queries.ts'
import type { Session } from '../api/types.ts'
import { describeDevice } from '../components/device.ts'
import { ProblemText } from '../components/form-problem.tsx'
import { formatAge, formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { useSignOut } from '../session/sign-out.ts'
import { Panel } from './panel.tsx'

const sessionsKey = ['sessions']

export function Sessions() {
  const sessions = useQuery(readQuery(sessionsKey, '/api/users/me/sessions'))
  return (
    <Panel title={t('Where you are signed in')} lead={t('An ended session stops within a second.')}>
      <Loaded query={sessions} skeleton={<Skeleton h={160} />}>
        {(list) => (
          <Stack gap="xs">
            {list.length > 1 && <EndOthers />}
            {list.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Panel>
  )
}

function EndOthers() {
  const end = useMutation({
    mutationFn: () => api.delete('/api/users/me/sessions'),
    onSuccess: () => queries.invalidateQueries({ queryKey: sessionsKey }),
  })
  return (
    <Group>
      <Button variant="default" loading={end.isPending} onClick={() => end.mutate()}>
        {t('End all other sessions')}
      </Button>
      <ProblemText problem={end.error} />
    </Group>
  )
}

function SessionRow({ session }: { session: Session }) {
  const signOut = useSignOut()
  const end = useMutation({
    mutationFn: async () => {
      if (session.current) await signOut()
      else await api.delete('/api/users/me/sessions/{id}', undefined, { path: { id: session.id } })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: sessionsKey }),
  })
  const name = describeDevice(session.user_agent)
  return (
    <Paper withBorder radius="md" p="md">
      <Group justify="space-between" gap="sm">
        <div>
          <Group gap="xs">
            <Text fw={550}>{name}</Text>
            {session.current && <Badge color="brass">{t('This device')}</Badge>}
          </Group>
          <Text c="dimmed" size="sm">
            {rich(
              '{0}, since {1}{2}',
              session.ip_address ?? t('Unknown address'),
              formatTime(session.created_at),
              session.last_used_at && t(', last used {0}', formatAge(session.last_used_at)),
            )}
          </Text>
          <ProblemText problem={end.error} />
        </div>
        <Button
          variant="default"
          loading={end.isPending}
          onClick={() => end.mutate()}
          aria-label={session.current ? t('Sign out here') : t('End the session of {0}', name)}
        >
          {session.current ? t('Sign out') : t('End')}
        </Button>
      </Group>
    </Paper>
  )
}
