import { Button } from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { OrderDetail } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { formatDay } from '../components/format.ts'
import { showToast } from '../components/toasts.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { Panel } from './facts.tsx'
import classes from './order-page.module.css'
import { storeOrder } from './orders-query.ts'

type Machine = OrderDetail['machines'][number]

/** The machines that the license is active on; the seller can release each. */
export function OrderMachines({ order }: { order: OrderDetail }) {
  const [released, setReleased] = useState<Machine | null>(null)
  const release = async (machine: Machine) => {
    const path = { id: order.id, activation_id: machine.id }
    storeOrder(
      await api.delete('/api/admin/purchases/{id}/activations/{activation_id}', undefined, {
        path,
      }),
    )
    showToast(t('Machine released'))
  }
  return (
    <Panel title={t('Machines')}>
      <ul className={classes.chain}>
        {order.machines.map((machine) => (
          <li key={machine.id}>
            <span>
              {rich(
                '{0}{1}, seen {2}',
                nameMachine(machine),
                machine.platform && `, ${machine.platform}`,
                formatDay(machine.last_seen_at),
              )}
            </span>
            <Button
              variant="default"
              size="xs"
              aria-label={t('Release {0}', nameMachine(machine))}
              onClick={() => setReleased(machine)}
            >
              {t('Release')}
            </Button>
          </li>
        ))}
      </ul>
      {released && (
        <Confirm
          opened
          onClose={() => setReleased(null)}
          title={t('Release {0}?', nameMachine(released))}
          action={t('Release')}
          onConfirm={() => release(released)}
        >
          {t(
            'The license ends on this machine, and the buyer can activate another one. It does not count towards the machines that they can release themselves.',
          )}
        </Confirm>
      )}
    </Panel>
  )
}

const nameMachine = ({ name }: Machine) => name ?? t('Unnamed machine')
