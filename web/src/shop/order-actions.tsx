import { Button } from '@mantine/core'
import {
  IconBan,
  IconCalendarPlus,
  IconDeviceDesktop,
  IconDots,
  IconDownload,
  IconMail,
  IconRestore,
} from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import type { OrderDetail } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { Menu, type MenuGroups } from '../components/menu.tsx'
import { useReturnFocus } from '../components/return-focus.ts'
import { showToast } from '../components/toasts.tsx'
import { IconButton } from '../conversations/parts/icon-button.tsx'
import { t } from '../language/text.ts'
import { ExtendDialog, MachinesDialog, RevokeDialog } from './order-dialogs.tsx'
import classes from './order-page.module.css'
import { hasEnded, isMember } from './order-status.tsx'
import { storeOrder } from './orders-query.ts'
import { RefundDialog } from './refund-dialog.tsx'

const DIALOGS = {
  refund: RefundDialog,
  extend: ExtendDialog,
  machines: MachinesDialog,
  revoke: RevokeDialog,
}
type DialogName = keyof typeof DIALOGS

/** Changes that need no further words. */
const AT_ONCE = {
  resend: {
    address: '/api/admin/purchases/{id}/resend',
    done: t('License key emailed'),
  },
  reset: {
    address: '/api/admin/purchases/{id}/reset-downloads',
    done: t('Downloads reset'),
  },
  restore: {
    address: '/api/admin/purchases/{id}/restore',
    done: t('Order restored'),
  },
} as const

export function OrderActions({ order }: { order: OrderDetail }) {
  const [opened, setOpened] = useState<DialogName | null>(null)
  const focus = useReturnFocus()
  const change = useMutation({
    mutationFn: (name: keyof typeof AT_ONCE) =>
      api.post(AT_ONCE[name].address, undefined, { path: { id: order.id } }),
    onSuccess: (changed, name) => {
      storeOrder(changed)
      showToast(AT_ONCE[name].done)
    },
  })
  const Opened = opened && DIALOGS[opened]
  const canRefund = order.refunded_cents < order.amount_cents && order.status !== 'upgraded'
  return (
    <div>
      <div
        className={classes.actions}
        // The menu's button gets the focus back, because a chosen item is gone.
        ref={(element) => {
          const button = element?.querySelector<HTMLElement>('[aria-haspopup]')
          if (button) focus.remember(button)
        }}
      >
        {canRefund && (
          <Button variant="default" onClick={() => setOpened('refund')}>
            {t('Refund')}
          </Button>
        )}
        {order.status === 'revoked' && !isMember(order) && (
          <Button
            variant="default"
            leftSection={<IconRestore size={18} aria-hidden />}
            loading={change.isPending}
            onClick={() => change.mutate('restore')}
          >
            {t('Restore')}
          </Button>
        )}
        <Menu
          label={t('More actions')}
          button={(target) => (
            <IconButton
              {...target}
              label={t('More actions')}
              data-tip-side="below"
              data-tip-align="end"
            >
              <IconDots size={20} aria-hidden />
            </IconButton>
          )}
          groups={listItems(order, setOpened, change.mutate)}
        />
      </div>
      <FormProblem problem={change.error} />
      {Opened && (
        <Opened
          order={order}
          onClose={() => {
            setOpened(null)
            if (opened !== 'refund') focus.restore()
          }}
        />
      )}
    </div>
  )
}

function listItems(
  order: OrderDetail,
  open: (dialog: DialogName) => void,
  change: (name: keyof typeof AT_ONCE) => void,
): MenuGroups {
  const { status, entitled_until } = order
  const live = !hasEnded(status)
  if (order.members.length > 0) {
    return [
      [
        live && {
          label: t('Email the keys again'),
          icon: IconMail,
          onSelect: () => change('resend'),
        },
      ],
      [live && { label: t('Revoke'), icon: IconBan, onSelect: () => open('revoke') }],
    ]
  }
  return [
    [
      live && {
        label: t('Email the key again'),
        icon: IconMail,
        onSelect: () => change('resend'),
      },
      { label: t('Reset downloads'), icon: IconDownload, onSelect: () => change('reset') },
    ],
    [
      entitled_until !== null && {
        label: t('Extend updates'),
        icon: IconCalendarPlus,
        onSelect: () => open('extend'),
      },
      {
        label: t('Change machine limit'),
        icon: IconDeviceDesktop,
        onSelect: () => open('machines'),
      },
    ],
    [
      live &&
        !isMember(order) && {
          label: t('Revoke'),
          icon: IconBan,
          onSelect: () => open('revoke'),
        },
    ],
  ]
}
