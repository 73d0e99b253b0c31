import { Button, Text } from '@mantine/core'
import {
  IconBan,
  IconDots,
  IconEye,
  IconLogout,
  IconMail,
  IconRosetteDiscountCheck,
  IconShieldCog,
  IconUserCheck,
} from '@tabler/icons-react'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { Customer, UpdateUserRequest } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { plural } from '../components/format.ts'
import { Menu, type MenuGroups, type MenuItem } from '../components/menu.tsx'
import { useReturnFocus } from '../components/return-focus.ts'
import { showToast } from '../components/toasts.tsx'
import { IconButton } from '../conversations/parts/icon-button.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import layout from '../shop/order-page.module.css'
import { hasEnded } from '../shop/order-status.tsx'
import { ordersOfCustomerQuery, refreshCustomers } from './customers-query.ts'
import { PlanDialog } from './plan-dialog.tsx'
import { ViewDialog } from './view-dialog.tsx'

type ActionName = 'sign-out' | 'suspend' | 'reactivate' | 'resend' | 'verify' | 'promote' | 'demote'

type Action = {
  title: string
  words: string
  action: string
  run: (customer: Customer) => Promise<string>
}

async function change({ id }: Customer, body: UpdateUserRequest, done: string): Promise<string> {
  await api.patch('/api/admin/users/{id}', body, { path: { id } })
  return done
}

/** Each sends an email for every license that still works. */
async function resendLicenses({ id }: Customer): Promise<string> {
  const { purchases } = await queries.fetchQuery({ ...ordersOfCustomerQuery(id), staleTime: 0 })
  const live = purchases.filter(({ status }) => !hasEnded(status) && status !== 'upgraded')
  for (const { id: order } of live)
    await api.post('/api/admin/purchases/{id}/resend', undefined, { path: { id: order } })
  return live.length === 0
    ? t('No license to send')
    : t('{0} emailed', plural(live.length, 'license'))
}

const ACTIONS: Record<ActionName, Action> = {
  'sign-out': {
    title: t('Sign out everywhere?'),
    words: t('All sessions end now, in the app and in the shop. API keys continue to work.'),
    action: t('Sign out everywhere'),
    run: async ({ id }) => {
      await api.post('/api/admin/users/{id}/sign-out', undefined, { path: { id } })
      return t('Signed out everywhere')
    },
  },
  suspend: {
    title: t('Suspend this account?'),
    words: t(
      'All sessions and API keys stop working now. The subscription continues; licenses stay valid.',
    ),
    action: t('Suspend'),
    run: (customer) => change(customer, { is_active: false }, t('Account suspended')),
  },
  reactivate: {
    title: t('Reactivate this account?'),
    words: t('Sign-in and API keys work again.'),
    action: t('Reactivate'),
    run: (customer) => change(customer, { is_active: true }, t('Account reactivated')),
  },
  resend: {
    title: t('Email the licenses again?'),
    words: t('The customer gets one email for each license that works.'),
    action: t('Email licenses'),
    run: resendLicenses,
  },
  verify: {
    title: t('Mark the email address as verified?'),
    words: t('Do this only when you know that the address belongs to the customer.'),
    action: t('Mark as verified'),
    run: (customer) => change(customer, { is_verified: true }, t('Marked as verified')),
  },
  promote: {
    title: t('Make a superuser?'),
    words: t('Superusers see and change everything: customers, payments, models and settings.'),
    action: t('Make superuser'),
    run: (customer) => change(customer, { is_superuser: true }, t('Made a superuser')),
  },
  demote: {
    title: t('Remove superuser access?'),
    words: t('The account stays a customer.'),
    action: t('Remove access'),
    run: (customer) => change(customer, { is_superuser: false }, t('Superuser access removed')),
  },
}

export function CustomerActions({ customer }: { customer: Customer }) {
  const isSelf = useUser().id === customer.id
  const [opened, setOpened] = useState<ActionName | null>(null)
  const [isPlanOpen, setIsPlanOpen] = useState(false)
  const [isViewOpen, setIsViewOpen] = useState(false)
  const focus = useReturnFocus()
  const action = opened && ACTIONS[opened]
  return (
    <div
      className={layout.actions}
      // The menu's button gets the focus back, because a chosen item is gone.
      ref={(element) => {
        const button = element?.querySelector<HTMLElement>('[aria-haspopup]')
        if (button) focus.remember(button)
      }}
    >
      <Button variant="default" onClick={() => setIsPlanOpen(true)}>
        {t('Change plan')}
      </Button>
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
        groups={[
          [
            customer.is_active &&
              !customer.is_superuser && {
                label: t('View as customer'),
                icon: IconEye,
                onSelect: () => setIsViewOpen(true),
              },
          ],
          ...listItems(customer, isSelf, setOpened),
        ]}
      />
      {isPlanOpen && <PlanDialog customer={customer} onClose={() => setIsPlanOpen(false)} />}
      {isViewOpen && <ViewDialog customer={customer} onClose={() => setIsViewOpen(false)} />}
      {action && (
        <Confirm
          opened
          title={action.title}
          action={action.action}
          onClose={() => {
            setOpened(null)
            focus.restore()
          }}
          onConfirm={async () => {
            showToast(await action.run(customer))
            await refreshCustomers()
          }}
        >
          <Text size="sm">
            {customer.email}: {action.words}
          </Text>
        </Confirm>
      )}
    </div>
  )
}

function listItems(
  { is_active, is_verified, is_superuser }: Customer,
  isSelf: boolean,
  open: (name: ActionName) => void,
): MenuGroups {
  const item = (label: string, icon: MenuItem['icon'], name: ActionName): MenuItem => ({
    label,
    icon,
    onSelect: () => open(name),
  })
  return [
    [
      item(t('Email licenses'), IconMail, 'resend'),
      !is_verified && item(t('Mark as verified'), IconRosetteDiscountCheck, 'verify'),
    ],
    [
      item(t('Sign out everywhere'), IconLogout, 'sign-out'),
      !isSelf && is_active && item(t('Suspend'), IconBan, 'suspend'),
      !is_active && item(t('Reactivate'), IconUserCheck, 'reactivate'),
    ],
    [
      !isSelf && !is_superuser && item(t('Make superuser'), IconShieldCog, 'promote'),
      !isSelf && is_superuser && item(t('Remove superuser access'), IconShieldCog, 'demote'),
    ],
  ]
}
