import { NavLink, type NavLinkProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

type Native = ComponentPropsWithRef<'a'>

/** An item of the menu, as one of the router's links. */
export const NavigationLink = createLink(
  (props: Omit<Native, keyof NavLinkProps> & NavLinkProps) => <NavLink component="a" {...props} />,
)
