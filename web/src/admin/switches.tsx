import {
  Button,
  Card,
  Group,
  NativeSelect,
  Paper,
  Skeleton,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconCircleCheck } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { Switch, SwitchableRoute, SwitchEffect, SwitchKind } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { FormProblem, setFieldErrors } from '../components/form-problem.tsx'
import { formatTime } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { SwitchEffectView } from './switch-effect.tsx'

const switchesKey = ['admin', 'switches']

const KINDS: Record<SwitchKind, { label: string; subjectLabel: string; hint: string }> = {
  user: {
    label: 'User',
    subjectLabel: 'User ID',
    hint: 'Blocks all calls. The user can still sign in, pay and export data.',
  },
  key: {
    label: 'API key',
    subjectLabel: 'API key ID',
    hint: 'Blocks this key only',
  },
  model: {
    label: 'Model',
    subjectLabel: 'Model name, alias or pattern',
    hint: 'For example gpt-6-luna or groq/*. Aliases use their other models.',
  },
  vendor: {
    label: 'Vendor',
    subjectLabel: 'Vendor name',
    hint: 'Blocks all models of this vendor',
  },
}

/** The operator's kill switches. */
export function Switches() {
  const switches = useQuery({
    queryKey: switchesKey,
    queryFn: ({ signal }) => api.get('/api/admin/switches', { signal }),
    refetchInterval: 10_000,
  })
  return (
    <Stack>
      <SwitchOff />
      <Card component="section" aria-label="Switched off">
        <Loaded query={switches} skeleton={<Skeleton h={160} />}>
          {({ switches: off }) =>
            off.length === 0 ? (
              <Notice icon={IconCircleCheck} title="Nothing is switched off">
                Calls to anything you switch off are rejected on every node within seconds. Switch
                it back on here.
              </Notice>
            ) : (
              <Stack gap="sm">
                {off.map((one) => (
                  <SwitchRow key={`${one.kind} ${one.subject}`} off={one} />
                ))}
              </Stack>
            )
          }
        </Loaded>
      </Card>
    </Stack>
  )
}

function SwitchOff() {
  const form = useForm({ initialValues: { kind: 'key' as SwitchKind, subject: '', reason: '' } })
  type Values = typeof form.values
  const onError = (problem: Error) => setFieldErrors(form, problem)
  const postSwitch = (values: Values) =>
    api.post('/api/admin/switches', values).then(() => {
      form.reset()
      return queries.invalidateQueries({ queryKey: switchesKey })
    })
  const off = useMutation({ mutationFn: postSwitch, onError })
  const [pendingSwitch, setAsked] = useState<{ effect: SwitchEffect; values: Values } | null>(null)
  const preview = useMutation({
    mutationFn: ({ kind, subject }: Pick<Values, 'subject'> & { kind: SwitchableRoute }) =>
      api.get('/api/admin/switches/effect', { query: { kind, subject: subject.trim() } }),
    onError,
  })
  const submit = (values: Values) => {
    const { kind, subject } = values
    if (kind === 'user' || kind === 'key') off.mutate(values)
    else preview.mutate({ kind, subject }, { onSuccess: (effect) => setAsked({ effect, values }) })
  }
  const { subjectLabel, hint } = KINDS[form.values.kind]
  return (
    <>
      <Card component="form" aria-label="Switch off" onSubmit={form.onSubmit(submit)}>
        <Group align="start" grow preventGrowOverflow={false} wrap="wrap">
          <NativeSelect
            label="Switch off"
            data={Object.entries(KINDS).map(([value, { label }]) => ({ value, label }))}
            {...form.getInputProps('kind')}
          />
          <TextInput
            label={subjectLabel}
            description={hint}
            required
            maxLength={200}
            {...form.getInputProps('subject')}
          />
          <TextInput
            label="Reason"
            description="Shown to rejected callers"
            required
            maxLength={200}
            {...form.getInputProps('reason')}
          />
        </Group>
        <Group mt="md">
          <Button type="submit" color="red" loading={off.isPending || preview.isPending}>
            Switch off
          </Button>
        </Group>
        <FormProblem problem={off.error ?? preview.error} fields={['kind', 'subject', 'reason']} />
      </Card>
      <Confirm
        opened={pendingSwitch !== null}
        onClose={() => setAsked(null)}
        title={`Switch off ${pendingSwitch?.values.subject ?? ''}?`}
        action="Switch off"
        leave="Cancel"
        onConfirm={async () => pendingSwitch && postSwitch(pendingSwitch.values)}
      >
        {pendingSwitch && <SwitchEffectView effect={pendingSwitch.effect} />}
      </Confirm>
    </>
  )
}

function SwitchRow({ off: { kind, subject, email, reason, set_at } }: { off: Switch }) {
  const on = useMutation({
    mutationFn: () => api.delete('/api/admin/switches', undefined, { query: { kind, subject } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: switchesKey }),
  })
  return (
    <Paper withBorder radius="md" p="md" component="article">
      <Group justify="space-between" gap="sm">
        <div>
          <Text fw={550} style={{ overflowWrap: 'anywhere' }}>
            {KINDS[kind].label}: {kind === 'user' && email !== null ? email : subject}
          </Text>
          <Text c="dimmed" size="sm">
            {kind === 'key' && email !== null && `${email}, `}since {formatTime(set_at)}: {reason}
          </Text>
        </div>
        <Button variant="default" loading={on.isPending} onClick={() => on.mutate()}>
          Switch on
        </Button>
      </Group>
      <FormProblem problem={on.error} />
    </Paper>
  )
}
