import { IconLock } from '@tabler/icons-react'
import { Link, Outlet } from '@tanstack/react-router'
import { LinkButton } from '../components/links.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { useUser } from '../session/user.ts'
import classes from './shop-layout.module.css'

const SECTIONS = [
  { to: '/shop/orders', label: 'Orders' },
  { to: '/shop/products', label: 'Products' },
  { to: '/shop/discounts', label: 'Discounts' },
  { to: '/shop/inbox', label: 'Inbox' },
  { to: '/shop/disputes', label: 'Disputes' },
] as const

/** The seller's desk: its sections, for superusers. */
export function ShopLayout() {
  if (!useUser().is_superuser) {
    return (
      <Page title="Shop">
        <Notice
          icon={IconLock}
          title="For superusers only"
          action={<LinkButton to="/dashboard">Go to dashboard</LinkButton>}
        >
          Your account does not have access to this page.
        </Notice>
      </Page>
    )
  }
  return (
    <>
      <nav aria-label="Shop" className={classes.sections}>
        {SECTIONS.map(({ to, label }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ includeSearch: false }}
            activeProps={{ 'aria-current': 'page' }}
          >
            {label}
          </Link>
        ))}
      </nav>
      <Outlet />
    </>
  )
}
