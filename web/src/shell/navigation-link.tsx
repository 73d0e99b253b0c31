import { NavLink, type NavLinkProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

type Native = ComponentPropsWithRef<'a'>

/** Menu item as a link of the router. */
export const NavigationLink = createLink(
  (props: Omit<Native, keyof NavLinkProps> & NavLinkProps) => <NavLink component="a" {...props} />,
)
