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
  return live.length === 0 ? 'No license to send' : `${plural(live.length, 'license')} emailed`
}

const ACTIONS: Record<ActionName, Action> = {
  'sign-out': {
    title: 'Sign out everywhere?',
    words: 'All sessions end now, in the app and in the shop. API keys continue to work.',
    action: 'Sign out everywhere',
    run: async ({ id }) => {
      await api.post('/api/admin/users/{id}/sign-out', undefined, { path: { id } })
      return 'Signed out everywhere'
    },
  },
  suspend: {
    title: 'Suspend this account?',
    words:
      'All sessions and API keys stop working now. The subscription continues; licenses stay valid.',
    action: 'Suspend',
    run: (customer) => change(customer, { is_active: false }, 'Account suspended'),
  },
  reactivate: {
    title: 'Reactivate this account?',
    words: 'Sign-in and API keys work again.',
    action: 'Reactivate',
    run: (customer) => change(customer, { is_active: true }, 'Account reactivated'),
  },
  resend: {
    title: 'Email the licenses again?',
    words: 'The customer gets one email for each license that works.',
    action: 'Email licenses',
    run: resendLicenses,
  },
  verify: {
    title: 'Mark the email address as verified?',
    words: 'Do this only when you know that the address belongs to the customer.',
    action: 'Mark as verified',
    run: (customer) => change(customer, { is_verified: true }, 'Marked as verified'),
  },
  promote: {
    title: 'Make a superuser?',
    words: 'Superusers see and change everything: customers, payments, models and settings.',
    action: 'Make superuser',
    run: (customer) => change(customer, { is_superuser: true }, 'Made a superuser'),
  },
  demote: {
    title: 'Remove superuser access?',
    words: 'The account stays a customer.',
    action: 'Remove access',
    run: (customer) => change(customer, { is_superuser: false }, 'Superuser access removed'),
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
        Change plan
      </Button>
      <Menu
        label="More actions"
        button={(target) => (
          <IconButton {...target} label="More actions" data-tip-side="below" data-tip-align="end">
            <IconDots size={20} aria-hidden />
          </IconButton>
        )}
        groups={[
          [
            customer.is_active &&
              !customer.is_superuser && {
                label: 'View as customer',
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
      item('Email licenses', IconMail, 'resend'),
      !is_verified && item('Mark as verified', IconRosetteDiscountCheck, 'verify'),
    ],
    [
      item('Sign out everywhere', IconLogout, 'sign-out'),
      !isSelf && is_active && item('Suspend', IconBan, 'suspend'),
      !is_active && item('Reactivate', IconUserCheck, 'reactivate'),
    ],
    [
      !isSelf && !is_superuser && item('Make superuser', IconShieldCog, 'promote'),
      !isSelf && is_superuser && item('Remove superuser access', IconShieldCog, 'demote'),
    ],
  ]
}
