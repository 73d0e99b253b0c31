import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { queries } from '../api/queries.ts'
import { Confirm } from '../components/confirm.tsx'
import { showToast } from '../components/toasts.tsx'
import { setupQuery } from './setup-query.ts'

type RemoveSavedProps = {
  /** `Stripe key` */
  what: string
  /** The consequence. */
  children: ReactNode
  remove: () => Promise<unknown>
}

/** Removes a saved setting after a question. It stays in use until the restart. */
export function RemoveSaved({ what, children, remove }: RemoveSavedProps) {
  const [isAsked, setIsAsked] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setIsAsked(true)}>
        Remove {what}
      </Button>
      <Confirm
        opened={isAsked}
        onClose={() => setIsAsked(false)}
        title={`Remove the ${what}?`}
        action="Remove"
        onConfirm={async () => {
          await remove()
          showToast('Removed. Restart to apply')
          await queries.invalidateQueries({ queryKey: setupQuery.queryKey })
        }}
      >
        {children}
      </Confirm>
    </>
  )
}
