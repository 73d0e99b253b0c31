import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

// The router's links in Mantine's clothes.

type Native = ComponentPropsWithRef<'a'>

export const ToButton = createLink((props: Omit<Native, keyof ButtonProps> & ButtonProps) => (
  <Button component="a" {...props} />
))

export const ToText = createLink((props: Omit<Native, keyof AnchorProps> & AnchorProps) => <Anchor {...props} />)
