import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Dialog } from '../conversations/parts/dialog.tsx'
import { t } from '../language/text.ts'
import classes from './confirm.module.css'
import { FormProblem } from './form-problem.tsx'

type ConfirmProps = {
  opened: boolean
  onClose: () => void
  title: string
  children: ReactNode
  action: string
  onConfirm: () => Promise<unknown>
}

/** Confirms an action. Stays open with the error when the action fails. */
export function Confirm({ opened, ...confirm }: ConfirmProps) {
  return opened && <ConfirmDialog {...confirm} />
}

function ConfirmDialog({
  onClose,
  title,
  children,
  action,
  onConfirm,
}: Omit<ConfirmProps, 'opened'>) {
  const run = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  return (
    <Dialog title={title} onClose={onClose}>
      <div className={classes.words}>{children}</div>
      <FormProblem problem={run.error} />
      <div className={classes.buttons}>
        <Button variant="default" onClick={onClose} autoFocus>
          {t('Cancel')}
        </Button>
        <Button color="red" loading={run.isPending} onClick={() => run.mutate()}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
