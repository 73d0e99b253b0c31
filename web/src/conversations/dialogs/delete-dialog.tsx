import { useMutation } from '@tanstack/react-query'
import { formatProblem } from '../../api/problem.ts'
import { t } from '../../language/text.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import classes from './dialogs.module.css'

type DeleteDialogProps = {
  title: string
  text: string
  action: string
  onDelete: () => Promise<unknown>
  onClose: () => void
}

/** Confirms a deletion. Stays open with the error when it fails. */
export function DeleteDialog({ title, text, action, onDelete, onClose }: DeleteDialogProps) {
  const run = useMutation({ mutationFn: onDelete, onSuccess: onClose })
  return (
    <Dialog title={title} onClose={onClose}>
      <p className={classes.text}>{text}</p>
      {run.isError && (
        <p className={classes.problem} role="alert">
          {formatProblem(run.error)}
        </p>
      )}
      <div className={classes.buttons}>
        <ActionButton autoFocus onClick={onClose}>
          {t('Cancel')}
        </ActionButton>
        <ActionButton tone="danger" disabled={run.isPending} onClick={() => run.mutate()}>
          {action}
        </ActionButton>
      </div>
    </Dialog>
  )
}
