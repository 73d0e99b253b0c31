import { Button, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { Switch } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { formatTime } from '../components/format.ts'
import rows from '../customers/customer-page.module.css'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { Panel } from '../shop/facts.tsx'
import { switchOn } from './models-query.ts'
import { SWITCH_KINDS } from './switch-kinds.ts'

/** Everything that is off, with the reason that rejected callers read. */
export function SwitchList({ switches }: { switches: Switch[] }) {
  if (switches.length === 0) return null
  return (
    <Panel title={t('Switched off')}>
      <ul className={rows.rows}>
        {switches.map((one) => (
          <SwitchRow key={`${one.kind} ${one.subject}`} off={one} />
        ))}
      </ul>
    </Panel>
  )
}

function SwitchRow({ off }: { off: Switch }) {
  const { kind, subject, email, reason, set_at } = off
  const on = useMutation({ mutationFn: () => switchOn(off) })
  const name = kind === 'user' && email !== null ? email : subject
  return (
    <li>
      <div>
        <Text size="sm" fw={550}>
          {SWITCH_KINDS[kind].label}: {name}
        </Text>
        <small>
          {rich(
            '{0}since {1}: {2}',
            kind === 'key' && email !== null && `${email}, `,
            formatTime(set_at),
            reason,
          )}
        </small>
        <FormProblem problem={on.error} />
      </div>
      <Button
        variant="default"
        size="compact-sm"
        style={{ flexShrink: 0 }}
        aria-label={t('Switch on {0}', name)}
        loading={on.isPending}
        onClick={() => on.mutate()}
      >
        {t('Switch on')}
      </Button>
    </li>
  )
}
