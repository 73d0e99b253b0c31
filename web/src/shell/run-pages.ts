import { IconBuildingStore, IconPlugConnected, IconShieldCog, IconUsers } from '@tabler/icons-react'
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
  { to: '/admin', label: 'Admin', icon: IconShieldCog, about: 'Usage, jobs, switches' },
  { to: '/run/setup', label: 'Setup', icon: IconPlugConnected, about: 'Stripe, models, email' },
]

/** Pages of Run that the palette finds besides. */
export const RUN_PARTS: readonly NavItem[] = [
  { to: '/shop/orders', label: 'Orders', icon: IconBuildingStore, about: 'Purchases and refunds' },
  {
    to: '/shop/products',
    label: 'Products',
    icon: IconBuildingStore,
    about: 'Prices and releases',
  },
  { to: '/shop/discounts', label: 'Discounts', icon: IconBuildingStore, about: 'Codes and sales' },
  { to: '/shop/inbox', label: 'Inbox', icon: IconBuildingStore, about: 'Messages of customers' },
  { to: '/shop/disputes', label: 'Disputes', icon: IconBuildingStore, about: 'Disputed payments' },
]
