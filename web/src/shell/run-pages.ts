import {
  IconBuildingStore,
  IconCpu,
  IconPlugConnected,
  IconShieldCog,
  IconUsers,
} from '@tabler/icons-react'
import type { NavItem } from './navigation.ts'

/** The side menu of Run, in its order. */
export const RUN: readonly NavItem[] = [
  {
    to: '/customers',
    label: 'Customers',
    icon: IconUsers,
    about: 'Find a customer, refund, sign out',
  },
  { to: '/shop', label: 'Shop', icon: IconBuildingStore, about: 'Products, orders, messages' },
  { to: '/run/models', label: 'Models', icon: IconCpu, about: 'Vendors, prices, switches' },
  { to: '/admin', label: 'Admin', icon: IconShieldCog, about: 'Usage, billing, jobs' },
  { to: '/run/setup', label: 'Setup', icon: IconPlugConnected, about: 'Stripe, models, email' },
]
