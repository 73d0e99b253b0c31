import {
  IconBuildingStore,
  IconCoin,
  IconCpu,
  IconPlugConnected,
  IconShieldCog,
  IconSunHigh,
  IconUsers,
} from '@tabler/icons-react'
import type { NavItem } from './navigation.ts'

/** The side menu of Run, in its order. */
export const RUN: readonly NavItem[] = [
  { to: '/run/today', label: 'Today', icon: IconSunHigh, about: 'Revenue, margin, messages' },
  {
    to: '/customers',
    label: 'Customers',
    icon: IconUsers,
    about: 'Find a customer, refund, sign out',
  },
  { to: '/run/money', label: 'Money', icon: IconCoin, about: 'Payments, metrics, invoices' },
  { to: '/shop', label: 'Shop', icon: IconBuildingStore, about: 'Products, orders, messages' },
  { to: '/run/models', label: 'Models', icon: IconCpu, about: 'Vendors, prices, switches' },
  { to: '/admin', label: 'Admin', icon: IconShieldCog, about: 'Jobs, invitations, audit' },
  { to: '/run/setup', label: 'Setup', icon: IconPlugConnected, about: 'Stripe, models, email' },
]
