import { Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { Customer } from '../api/types.ts'
import { viewToken } from '../session/token-store.ts'
import { FormDialog } from '../shop/form-dialog.tsx'

type ViewDialogProps = { customer: Customer; onClose: () => void }

/** Starts a view of the customer's account in this tab. */
export function ViewDialog({ customer: { id, email }, onClose }: ViewDialogProps) {
  const [reason, setReason] = useState('')
  return (
    <FormDialog
      title="View as customer"
      action="Start view"
      done="View started"
      onClose={onClose}
      onSubmit={async () => {
        const view = await api.post('/api/admin/users/{id}/view', { reason }, { path: { id } })
        viewToken.write(view.access_token)
        // Loads anew, so that no data of one account shows under the other.
        location.assign('/dashboard')
      }}
    >
      <Text size="sm">
        This tab shows the app as {email} sees it, for 30 minutes. You can change nothing, and their
        conversations and documents stay closed. The customer finds the view in their account’s
        activity.
      </Text>
      <Textarea
        label="Reason"
        description="For the audit log; the customer can read it too."
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
