import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

// Links of the router with Mantine's style.

type Native = ComponentPropsWithRef<'a'>

export const LinkButton = createLink((props: Omit<Native, keyof ButtonProps> & ButtonProps) => (
  <Button component="a" {...props} />
))

export const TextLink = createLink((props: Omit<Native, keyof AnchorProps> & AnchorProps) => (
  <Anchor {...props} />
))
