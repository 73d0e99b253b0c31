import {
  IconActivity,
  IconBuildingStore,
  IconCoin,
  IconCpu,
  IconHeartbeat,
  IconHourglass,
  IconPalette,
  IconPlugConnected,
  IconSunHigh,
  IconTags,
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
  { to: '/run/today', label: 'Today', icon: IconSunHigh, about: 'Revenue, margin, messages' },
  {
    to: '/customers',
    label: 'Customers',
    icon: IconUsers,
    about: 'Find a customer, refund, sign out',
  },
  { to: '/run/money', label: 'Money', icon: IconCoin, about: 'Payments, metrics, invoices' },
  { to: '/shop', label: 'Shop', icon: IconBuildingStore, about: 'Products, orders, messages' },
  { to: '/run/catalogue', label: 'Catalogue', icon: IconTags, about: 'Plans, prices, limits' },
  { to: '/run/models', label: 'Models', icon: IconCpu, about: 'Vendors, prices, switches' },
  { to: '/run/activity', label: 'Activity', icon: IconActivity, about: 'Audit log, jobs, emails' },
  { to: '/run/health', label: 'Health', icon: IconHeartbeat, about: 'What works and what fails' },
  { to: '/run/brand', label: 'Brand', icon: IconPalette, about: 'Name, logo, colors, links' },
  { to: '/run/setup', label: 'Setup', icon: IconPlugConnected, about: 'Stripe, models, email' },
]

/** Pages of Run that the palette finds besides. */
export const RUN_PARTS: readonly NavItem[] = [
  { to: '/customers/invitations', label: 'Invitations', icon: IconUsers, about: 'Invite by email' },
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
