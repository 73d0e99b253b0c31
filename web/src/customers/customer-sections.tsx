import { Link } from '@tanstack/react-router'
import layout from '../shop/shop-layout.module.css'

const SECTIONS = [
  { to: '/customers', label: 'Customers' },
  { to: '/customers/invitations', label: 'Invitations' },
] as const

export function CustomerSections() {
  return (
    <nav aria-label="Customers" className={layout.sections}>
      {SECTIONS.map(({ to, label }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
