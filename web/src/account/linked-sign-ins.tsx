import { Alert, Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { queries, readQuery } from '../api/queries.ts'
import type { OAuthLink } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { formatDay } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { t } from '../language/text.ts'
import { describeCallbackError } from '../sign-in/callback-errors.ts'
import { OAUTH_PROVIDERS } from '../sign-in/oauth.ts'
import { Panel } from './panel.tsx'

const route = getRouteApi('/app/account')
const linksKey = ['links']

/** Shows the result of linking, which the provider's redirect puts into the address. */
export function LinkOutcome() {
  const { linked, error } = route.useSearch()
  if (error) {
    return (
      <Alert color="brass" mb="md" role="alert">
        {describeCallbackError(error)}
      </Alert>
    )
  }
  if (!linked) return null
  return (
    <Alert color="pine" mb="md" role="status">
      {t(
        '{0} is linked.',
        OAUTH_PROVIDERS.find(({ id }) => id === linked)?.name ?? t('The provider'),
      )}
    </Alert>
  )
}

/** Linking redirects to the provider and back here, with `linked` or `error` in the address. */
export function LinkedSignIns() {
  const links = useQuery(readQuery(linksKey, '/api/users/me/oauth'))
  return (
    <Panel title={t('Linked sign-ins')} lead={t('Sign in to this account with Google or GitHub.')}>
      <Stack gap="xs">
        <Loaded query={links} skeleton={<Skeleton h={120} />}>
          {(list) =>
            OAUTH_PROVIDERS.map((provider) => (
              <ProviderRow
                key={provider.id}
                provider={provider}
                link={list.find((link) => link.provider === provider.id)}
              />
            ))
          }
        </Loaded>
      </Stack>
    </Panel>
  )
}

function ProviderRow({
  provider,
  link,
}: {
  provider: (typeof OAUTH_PROVIDERS)[number]
  link: OAuthLink | undefined
}) {
  const { id, name, icon: Glyph } = provider
  const change = useMutation({
    mutationFn: async () => {
      if (link) {
        await api.delete('/api/users/me/oauth/{provider}', undefined, { path: { provider: id } })
        await queries.invalidateQueries({ queryKey: linksKey })
      } else {
        const { authorization_url } = await api.post('/api/users/me/oauth/{provider}', undefined, {
          path: { provider: id },
        })
        location.assign(authorization_url)
      }
    },
  })
  return (
    <Paper withBorder radius="md" p="sm">
      <Group justify="space-between" gap="sm">
        <Group gap="sm" wrap="nowrap">
          <Glyph size={20} aria-hidden />
          <div>
            <Text fw={550}>{name}</Text>
            <Text c="dimmed" size="sm">
              {link
                ? t('{0}, since {1}', link.email ?? t('Linked'), formatDay(link.linked_at))
                : t('Not linked')}
            </Text>
          </div>
        </Group>
        <Button variant="default" loading={change.isPending} onClick={() => change.mutate()}>
          {link ? t('Unlink') : t('Link')} {name}
        </Button>
      </Group>
      {change.isError && (
        <Stack mt="sm">
          <FormProblem problem={change.error} />
        </Stack>
      )}
    </Paper>
  )
}
