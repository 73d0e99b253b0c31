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
import { t } from '../language/text.ts'
import type { NavItem } from './navigation.ts'

/** In the menu of sandboxed services only. */
export const TIME_MACHINE: NavItem = {
  to: '/run/time-machine',
  label: t('Time machine'),
  icon: IconHourglass,
  about: t('Move the clock, watch renewals and emails'),
}

/** The side menu of Run, in its order. */
export const RUN: readonly NavItem[] = [
  { to: '/run/today', label: t('Today'), icon: IconSunHigh, about: t('Revenue, margin, messages') },
  {
    to: '/customers',
    label: t('Customers'),
    icon: IconUsers,
    about: t('Find a customer, refund, sign out'),
  },
  { to: '/run/money', label: t('Money'), icon: IconCoin, about: t('Payments, metrics, invoices') },
  {
    to: '/shop',
    label: t('Shop'),
    icon: IconBuildingStore,
    about: t('Products, orders, messages'),
  },
  {
    to: '/run/catalogue',
    label: t('Catalogue'),
    icon: IconTags,
    about: t('Plans, prices, limits'),
  },
  { to: '/run/models', label: t('Models'), icon: IconCpu, about: t('Vendors, prices, switches') },
  {
    to: '/run/activity',
    label: t('Activity'),
    icon: IconActivity,
    about: t('Audit log, jobs, emails'),
  },
  {
    to: '/run/health',
    label: t('Health'),
    icon: IconHeartbeat,
    about: t('What works and what fails'),
  },
  { to: '/run/brand', label: t('Brand'), icon: IconPalette, about: t('Name, logo, colors, links') },
  {
    to: '/run/setup',
    label: t('Setup'),
    icon: IconPlugConnected,
    about: t('Stripe, models, email'),
  },
]

/** Pages of Run that the palette finds besides. */
export const RUN_PARTS: readonly NavItem[] = [
  {
    to: '/customers/invitations',
    label: t('Invitations'),
    icon: IconUsers,
    about: t('Invite by email'),
  },
  {
    to: '/shop/orders',
    label: t('Orders'),
    icon: IconBuildingStore,
    about: t('Purchases and refunds'),
  },
  {
    to: '/shop/products',
    label: t('Products'),
    icon: IconBuildingStore,
    about: t('Prices and releases'),
  },
  {
    to: '/shop/discounts',
    label: t('Discounts'),
    icon: IconBuildingStore,
    about: t('Codes and sales'),
  },
  {
    to: '/shop/inbox',
    label: t('Inbox'),
    icon: IconBuildingStore,
    about: t('Messages of customers'),
  },
  {
    to: '/shop/disputes',
    label: t('Disputes'),
    icon: IconBuildingStore,
    about: t('Disputed payments'),
  },
]
