import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import confirmClasses from '../components/confirm.module.css'
import { FormProblem } from '../components/form-problem.tsx'
import { showToast } from '../components/toasts.tsx'
import { Dialog } from '../conversations/parts/dialog.tsx'
import { t } from '../language/text.ts'

type FormDialogProps = {
  title: string
  /** The label of the button. */
  action: string
  /** Shown when it has worked. */
  done: string
  isDangerous?: boolean
  /** False while something has to load before the form can be sent. */
  isReady?: boolean
  children: ReactNode
  onClose: () => void
  /** Text that it returns is shown in place of `done`. */
  onSubmit: () => Promise<unknown>
}

/** A dialog with a form. Stays open with the error when it fails. */
export function FormDialog(dialog: FormDialogProps) {
  const { title, action, done, isDangerous, isReady = true, children, onClose, onSubmit } = dialog
  const run = useMutation({
    mutationFn: onSubmit,
    onSuccess: (message) => {
      showToast(typeof message === 'string' ? message : done)
      onClose()
    },
  })
  const form = useRef<HTMLFormElement>(null)
  // The dialog itself focuses its close button first.
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus()
  }, [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    run.mutate()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form ref={form} onSubmit={submit}>
        <div className={confirmClasses.words}>{children}</div>
        <FormProblem problem={run.error} />
        <div className={confirmClasses.buttons}>
          <Button variant="default" onClick={onClose}>
            {t('Cancel')}
          </Button>
          <Button
            type="submit"
            {...(isDangerous && { color: 'red' })}
            loading={run.isPending}
            disabled={!isReady}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
