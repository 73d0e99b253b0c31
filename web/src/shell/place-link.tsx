import { NavLink, type NavLinkProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

type Native = ComponentPropsWithRef<'a'>

/** A place in the menu, as one of the router's links. */
export const PlaceLink = createLink((props: Omit<Native, keyof NavLinkProps> & NavLinkProps) => (
  <NavLink component="a" {...props} />
))
