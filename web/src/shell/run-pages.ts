import {
  IconBuildingStore,
  IconHourglass,
  IconPlugConnected,
  IconShieldCog,
  IconUsers,
} from '@tabler/icons-react'
import type { NavItem } from './navigation.ts'

/** In the menu of sandboxed services only. */
export const TIME_MACHINE: NavItem = {
  to: '/run/time-machine',
  label: 'Time machine',
  icon: IconHourglass,
  about: 'Move the clock, watch renewals and emails',
}

/** The side menu of Run, in its order. */
export const RUN: readonly NavItem[] = [
  {
    to: '/customers',
    label: 'Customers',
    icon: IconUsers,
    about: 'Find a customer, refund, sign out',
  },
  { to: '/shop', label: 'Shop', icon: IconBuildingStore, about: 'Products, orders, messages' },
  { to: '/admin', label: 'Admin', icon: IconShieldCog, about: 'Usage, jobs, switches' },
  { to: '/run/setup', label: 'Setup', icon: IconPlugConnected, about: 'Stripe, models, email' },
]
