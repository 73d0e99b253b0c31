import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { formatProblem } from '../api/problem.ts'
import type { Switch } from '../api/types.ts'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'
import { switchOn } from './models-query.ts'
import { isSwitchedOff, type SwitchSubject } from './switch-kinds.ts'

type SwitchButtonProps = {
  subject: SwitchSubject
  switches: readonly Switch[]
  onSwitchOff: (subject: SwitchSubject) => void
}

/** Switches a row off by its dialog, and on again at once. */
export function SwitchButton({ subject, switches, onSwitchOff }: SwitchButtonProps) {
  const isOff = isSwitchedOff(switches, subject)
  const on = useMutation({
    mutationFn: () => switchOn(subject),
    onSuccess: () => showToast(t('Switched on')),
    onError: (problem) => showToast(formatProblem(problem)),
  })
  return (
    <Button
      variant={isOff ? 'default' : 'subtle'}
      size="compact-sm"
      aria-label={
        isOff ? t('Switch on {0}', subject.subject) : t('Switch off {0}', subject.subject)
      }
      loading={on.isPending}
      onClick={() => (isOff ? on.mutate() : onSwitchOff(subject))}
    >
      {isOff ? t('Switch on') : t('Switch off')}
    </Button>
  )
}
