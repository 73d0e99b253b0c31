import { NativeSelect, Skeleton, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { readQuery } from '../api/queries.ts'
import type { SwitchKind } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { t } from '../language/text.ts'
import { FormDialog } from '../shop/form-dialog.tsx'
import { refreshModels } from './models-query.ts'
import { SwitchEffectView } from './switch-effect.tsx'
import { SWITCH_KINDS, type SwitchSubject } from './switch-kinds.ts'

type SwitchDialogProps = {
  /** Omitted: the dialog asks for it. */
  given?: SwitchSubject | undefined
  onClose: () => void
}

/** Switches something off. Shows the effect on models, and its cost, before anything changes. */
export function SwitchDialog({ given, onClose }: SwitchDialogProps) {
  const [typed, setTyped] = useState<SwitchSubject>({ kind: 'model', subject: '' })
  const [reason, setReason] = useState('')
  const { kind, subject } = given ?? { ...typed, subject: typed.subject.trim() }
  const [settled] = useDebouncedValue(subject, 300)
  const effect = useSwitchEffect(kind, settled)
  const isEffectShown = settled === subject && !effect.isFetching
  return (
    <FormDialog
      title={given ? t('Switch off {0}?', subject) : t('Switch off')}
      action={t('Switch off')}
      done={t('Switched off')}
      isDangerous
      isReady={isEffectShown}
      onClose={onClose}
      onSubmit={async () => {
        await api.post('/api/admin/switches', { kind, subject, reason })
        await refreshModels()
      }}
    >
      {given === undefined && <SubjectFields typed={typed} onChange={setTyped} />}
      {effect.isFetching && <Skeleton h={96} />}
      {!effect.isFetching && effect.data && <SwitchEffectView effect={effect.data} />}
      <FormProblem problem={effect.error} />
      <TextInput
        label={t('Reason')}
        description={t('Shown to rejected callers')}
        required
        maxLength={200}
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </FormDialog>
  )
}

/** Users and keys have no other effect than that their calls are rejected. */
function useSwitchEffect(kind: SwitchKind, subject: string) {
  return useQuery({
    ...readQuery(['admin', 'switch-effect', kind, subject], '/api/admin/switches/effect', {
      query: { kind: kind === 'vendor' ? kind : 'model', subject },
    }),
    enabled: subject !== '' && (kind === 'model' || kind === 'vendor'),
  })
}

type SubjectFieldsProps = { typed: SwitchSubject; onChange: (typed: SwitchSubject) => void }

function SubjectFields({ typed, onChange }: SubjectFieldsProps) {
  const { subjectLabel, hint } = SWITCH_KINDS[typed.kind]
  return (
    <>
      <NativeSelect
        label={t('What')}
        value={typed.kind}
        onChange={({ currentTarget }) =>
          onChange({ kind: currentTarget.value as SwitchKind, subject: '' })
        }
        data={Object.entries(SWITCH_KINDS).map(([value, { label }]) => ({ value, label }))}
      />
      <TextInput
        label={subjectLabel}
        description={hint}
        required
        maxLength={200}
        value={typed.subject}
        onChange={({ currentTarget }) => onChange({ ...typed, subject: currentTarget.value })}
      />
    </>
  )
}
