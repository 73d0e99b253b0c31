import { Alert, Drawer, Group, Select, Stack, Switch, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { formatProblem } from '../api/problem.ts'
import { queries } from '../api/queries.ts'
import type { AdminUser, UpdateUserRequest } from '../api/types.ts'
import { planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { CopyIcon } from '../components/copy.tsx'
import { LinkButton } from '../components/links.tsx'
import { useUser } from '../session/user.ts'

/** Select value for no override. Tiers contain no spaces, so it matches none. */
const AS_PAID = 'as paid'

/** Superuser's controls for one user. Each change is sent immediately; the reply is shown. */
export function UserDrawer({ user, onClose }: { user: AdminUser; onClose: () => void }) {
  const me = useUser()
  const plans = usePlans()
  const [shown, setShown] = useState(user)
  const [override, setOverride] = useState<string | null>(user.tier_override ?? null)
  const change = useMutation({
    mutationFn: (change: UpdateUserRequest) =>
      api.patch('/api/admin/users/{id}', change, { path: { id: user.id } }),
    onError: () => setOverride(shown.tier_override ?? null),
    onSuccess: (changed) => {
      setShown((before) => ({ ...before, ...changed }))
      void queries.invalidateQueries({ queryKey: ['admin'] })
    },
  })
  const own = user.id === me.id
  // Keep an override in the list after its plan has left the catalogue.
  const tiers = new Set([
    ...plans.map(({ tier }) => tier),
    ...(override === null ? [] : [override]),
  ])

  return (
    <Drawer opened onClose={onClose} position="right" title={user.email} size={400}>
      <Stack>
        <Group gap={4} wrap="nowrap">
          <Text className="mono" size="sm" style={{ overflowWrap: 'anywhere' }}>
            {user.id}
          </Text>
          <CopyIcon value={user.id} what="ID" />
        </Group>
        <Switch
          size="md"
          label="Active"
          description="Off ends all sessions and API keys immediately"
          checked={shown.is_active}
          disabled={own || change.isPending}
          onChange={(event) => change.mutate({ is_active: event.currentTarget.checked })}
        />
        <Switch
          size="md"
          label="Verified"
          description="Treats the email address as verified"
          checked={shown.is_verified}
          disabled={change.isPending}
          onChange={(event) => change.mutate({ is_verified: event.currentTarget.checked })}
        />
        <Switch
          size="md"
          label="Superuser"
          description="Can see and change everything in Admin"
          checked={shown.is_superuser === true}
          disabled={own || change.isPending}
          onChange={(event) => change.mutate({ is_superuser: event.currentTarget.checked })}
        />
        <Select
          label="Plan"
          description="Overrides the processor’s subscription until you remove it"
          data={[
            { value: AS_PAID, label: 'From the payment processor' },
            ...[...tiers].map((tier) => ({ value: tier, label: planName(plans, tier) })),
          ]}
          value={override ?? AS_PAID}
          disabled={change.isPending}
          onChange={(value) => {
            const tier = value === AS_PAID ? null : value
            setOverride(tier)
            change.mutate({ subscription_tier: tier as UpdateUserRequest['subscription_tier'] })
          }}
        />
        <Text c="dimmed" size="sm">
          {own
            ? 'You can’t deactivate yourself or remove your own access.'
            : `Current plan: ${planName(plans, shown.subscription_tier)}.`}
        </Text>
        <LinkButton to="/admin" search={{ tab: 'audit', user: user.id }} variant="default">
          View audit log
        </LinkButton>
        {change.isError && (
          <Alert color="red" role="alert">
            {formatProblem(change.error)}
          </Alert>
        )}
      </Stack>
    </Drawer>
  )
}
