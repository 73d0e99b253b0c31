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

/** No tier: none has a blank in it. */
const AS_PAID = 'as paid'

/** What a superuser may switch. Each switch is sent at once, and its answer is what is shown. */
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
  // One that is set stays to be seen, though it be on offer no more.
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
          <CopyIcon value={user.id} what="id" />
        </Group>
        <Switch
          size="md"
          label="Active"
          description="Off: every session and key of theirs stops at once"
          checked={shown.is_active}
          disabled={own || change.isPending}
          onChange={(event) => change.mutate({ is_active: event.currentTarget.checked })}
        />
        <Switch
          size="md"
          label="Verified"
          description="Their email address is taken as proven"
          checked={shown.is_verified}
          disabled={change.isPending}
          onChange={(event) => change.mutate({ is_verified: event.currentTarget.checked })}
        />
        <Switch
          size="md"
          label="Superuser"
          description="May see and change everything here"
          checked={shown.is_superuser === true}
          disabled={own || change.isPending}
          onChange={(event) => change.mutate({ is_superuser: event.currentTarget.checked })}
        />
        <Select
          label="Plan"
          description="A plan set here holds against what the processor says, until it is lifted"
          data={[
            { value: AS_PAID, label: 'As the processor says' },
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
            ? 'You cannot switch yourself off, or take your own rights away.'
            : `Now on ${planName(plans, shown.subscription_tier)}.`}
        </Text>
        <LinkButton to="/admin" search={{ tab: 'audit', user: user.id }} variant="default">
          What happened to this account
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
