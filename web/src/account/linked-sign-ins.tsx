import { Badge, Group, Text } from '@mantine/core'
import { useUser } from '../session/user.ts'
import { Panel } from './panel.tsx'

const NAMES: Record<string, string> = { google: 'Google', github: 'GitHub' }

export function LinkedSignIns() {
  const { oauth_provider, is_verified } = useUser()
  return (
    <Panel
      title="Linked sign-ins"
      lead={
        is_verified
          ? 'Sign in with Google or GitHub under the same verified address, and it is linked to this account by itself.'
          : 'Once your address is verified, signing in with Google or GitHub under the same address links it to this account.'
      }
    >
      <Group gap="xs">
        {oauth_provider ? (
          <Badge color="pine" size="lg">
            {NAMES[oauth_provider] ?? oauth_provider}
          </Badge>
        ) : (
          <Text c="dimmed">None yet</Text>
        )}
      </Group>
    </Panel>
  )
}
