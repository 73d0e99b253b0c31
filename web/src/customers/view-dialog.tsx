import { Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { Customer } from '../api/types.ts'
import { t } from '../language/text.ts'
import { viewToken } from '../session/token-store.ts'
import { FormDialog } from '../shop/form-dialog.tsx'

type ViewDialogProps = { customer: Customer; onClose: () => void }

/** Starts a view of the customer's account in this tab. */
export function ViewDialog({ customer: { id, email }, onClose }: ViewDialogProps) {
  const [reason, setReason] = useState('')
  return (
    <FormDialog
      title={t('View as customer')}
      action={t('Start view')}
      done={t('View started')}
      onClose={onClose}
      onSubmit={async () => {
        const view = await api.post('/api/admin/users/{id}/view', { reason }, { path: { id } })
        viewToken.write(view.access_token)
        // Loads anew, so that no data of one account shows under the other.
        location.assign('/dashboard')
      }}
    >
      <Text size="sm">
        {t(
          'This tab shows the app as {0} sees it, for 30 minutes. You can change nothing, and their conversations and documents stay closed. The customer finds the view in their account’s activity.',
          email,
        )}
      </Text>
      <Textarea
        label={t('Reason')}
        description={t('For the audit log; the customer can read it too.')}
        mt="sm"
        required
        maxLength={500}
        autosize
        minRows={2}
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </FormDialog>
  )
}
