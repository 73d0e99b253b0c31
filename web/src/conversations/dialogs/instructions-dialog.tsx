import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { formatProblem } from '../../api/problem.ts'
import type { Conversation, ConversationSettings } from '../../api/types.ts'
import { t } from '../../language/text.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { announceChange } from '../queries.ts'
import classes from './dialogs.module.css'

type InstructionsDialogProps = { conversation: Conversation; onClose: () => void }

/** Instructions, temperature and length of the answers in one conversation. */
export function InstructionsDialog({ conversation, onClose }: InstructionsDialogProps) {
  const { id, settings } = conversation
  const [instructions, setInstructions] = useState(settings.instructions ?? '')
  const [temperature, setTemperature] = useState(settings.temperature?.toString() ?? '')
  const [maxTokens, setMaxTokens] = useState(settings.max_tokens?.toString() ?? '')
  const save = useMutation({
    mutationFn: async () => {
      const { documents } = settings
      const next: ConversationSettings = {
        ...(documents !== undefined && { documents }),
        ...(instructions.trim() && { instructions: instructions.trim() }),
        ...(temperature !== '' && { temperature: Number(temperature) }),
        ...(maxTokens !== '' && { max_tokens: Number(maxTokens) }),
      }
      await api.patch('/api/conversations/{id}', { settings: next }, { path: { id } })
      await announceChange(id)
    },
    onSuccess: onClose,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Dialog title={t('Instructions')} onClose={onClose}>
      <form onSubmit={submit}>
        <label className={classes.field}>
          {t('For every answer in this conversation')}
          <textarea
            rows={5}
            maxLength={8_000}
            dir="auto"
            placeholder={t('Answer in German, in short sentences.')}
            value={instructions}
            onChange={(event) => setInstructions(event.currentTarget.value)}
          />
        </label>
        <label className={classes.field}>
          {t('Temperature')}
          <input
            type="number"
            min={0}
            max={2}
            step={0.1}
            placeholder={t('Model’s default')}
            value={temperature}
            onChange={(event) => setTemperature(event.currentTarget.value)}
          />
          <small>{t('Lower is more predictable, higher is more creative. From 0 to 2.')}</small>
        </label>
        <label className={classes.field}>
          {t('Maximum length in tokens')}
          <input
            type="number"
            min={1}
            step={1}
            placeholder={t('Model’s limit')}
            value={maxTokens}
            onChange={(event) => setMaxTokens(event.currentTarget.value)}
          />
        </label>
        {save.isError && (
          <p className={classes.problem} role="alert">
            {formatProblem(save.error)}
          </p>
        )}
        <div className={classes.buttons}>
          <ActionButton onClick={onClose}>{t('Cancel')}</ActionButton>
          <ActionButton type="submit" tone="primary" disabled={save.isPending}>
            {t('Save')}
          </ActionButton>
        </div>
      </form>
    </Dialog>
  )
}
