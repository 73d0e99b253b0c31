import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { queries } from '../api/queries.ts'
import { Confirm } from '../components/confirm.tsx'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'
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
        {t('Remove {0}', what)}
      </Button>
      <Confirm
        opened={isAsked}
        onClose={() => setIsAsked(false)}
        title={t('Remove the {0}?', what)}
        action={t('Remove')}
        onConfirm={async () => {
          await remove()
          showToast(t('Removed. Restart to apply'))
          await queries.invalidateQueries({ queryKey: setupQuery.queryKey })
        }}
      >
        {children}
      </Confirm>
    </>
  )
}
