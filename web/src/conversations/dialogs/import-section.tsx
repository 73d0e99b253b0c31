import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { formatProblem } from '../../api/problem.ts'
import { plural } from '../../components/format.ts'
import { t } from '../../language/text.ts'
import { importConversations, readExport } from '../import.ts'
import { ActionButton } from '../parts/action-button.tsx'
import classes from './dialogs.module.css'

const SHOWN_MAX = 5
const REASONS = {
  already_imported: t('Already imported'),
  empty: t('Has no messages'),
  invalid: t('Not readable'),
  too_long: t('Too long'),
} as const

export function ImportSection() {
  const input = useRef<HTMLInputElement>(null)
  const [progress, setProgress] = useState(0)
  const run = useMutation({
    mutationFn: async (file: File) => {
      setProgress(0)
      const conversations = readExport(await file.text())
      if (conversations === null) throw new NoConversations()
      return importConversations(conversations, setProgress)
    },
  })
  return (
    <section className={classes.section} aria-label={t('Import')}>
      <h3>{t('Import')}</h3>
      <div className={classes.row}>
        <span role="status">{describe(run, progress)}</span>
        <ActionButton disabled={run.isPending} onClick={() => input.current?.click()}>
          {t('Choose file')}
        </ActionButton>
        <input
          ref={input}
          type="file"
          accept=".json,application/json"
          hidden
          aria-label={t('File to import')}
          onChange={(event) => {
            const file = event.currentTarget.files?.[0]
            if (file) run.mutate(file)
            event.currentTarget.value = ''
          }}
        />
      </div>
      {run.data && run.data.skipped.length > 0 && (
        <ul className={classes.list}>
          {run.data.skipped.slice(0, SHOWN_MAX).map(({ title, reason }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: titles repeat, and the list does not change.
            <li key={index}>
              <span>
                {title}
                <small>{REASONS[reason]}</small>
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

class NoConversations extends Error {}

type Run = Pick<
  ReturnType<typeof useMutation<Awaited<ReturnType<typeof importConversations>>, Error, File>>,
  'isPending' | 'error' | 'data'
>

function describe({ isPending, error, data }: Run, progress: number): string {
  if (isPending) return t('Importing, {0} %', Math.floor(100 * progress))
  if (error instanceof NoConversations)
    return t('This file has no conversations. Choose conversations.json.')
  if (error) return formatProblem(error)
  if (data) {
    const skipped =
      data.skipped.length > 0 ? t(' {0} skipped.', plural(data.skipped.length, 'was', 'were')) : ''
    return t('{0} imported.{1}', plural(data.imported, 'conversation'), skipped)
  }
  return t('An export of this service, or conversations.json from ChatGPT’s export')
}
