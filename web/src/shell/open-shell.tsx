import { Box, Container, Group } from '@mantine/core'
import { Link, Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ColorScheme } from '../parts/color-scheme.tsx'
import { Wordmark } from '../parts/logo.tsx'
import { ToButton, ToText } from '../parts/to.tsx'
import { useSignedIn } from '../session/use-session.ts'
import { useMainFocus } from './main-focus.ts'
import classes from './open-shell.module.css'

/** The frame of the pages that anyone may see. */
export function OpenShell({ children }: { children?: ReactNode }) {
  const signedIn = useSignedIn()
  const main = useMainFocus()

  return (
    <Box className={classes.frame}>
      <header className={classes.header}>
        <Container size={1160} h="100%">
          <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
            <Link to="/" className={classes.home} aria-label="Latchkey, home">
              <Wordmark />
            </Link>
            <Group component="nav" aria-label="Main" gap={6} wrap="nowrap">
              <ToButton to="/pricing" variant="subtle" color="gray" px="sm" className={classes.wide}>
                Pricing
              </ToButton>
              <ColorScheme />
              {signedIn ? (
                <ToButton to="/dashboard">Dashboard</ToButton>
              ) : (
                <>
                  <ToButton to="/login" variant="subtle" color="gray" px="sm">
                    Sign in
                  </ToButton>
                  <ToButton to="/register" className={classes.wide}>
                    Get started
                  </ToButton>
                </>
              )}
            </Group>
          </Group>
        </Container>
      </header>
      <main id="main" tabIndex={-1} ref={main} className={classes.main}>
        {children ?? <Outlet />}
      </main>
      <footer className={classes.footer}>
        <Container size={1160}>
          <Group justify="space-between" gap="md">
            <span>Latchkey. One key to your models and your documents.</span>
            <Group component="nav" aria-label="Footer" gap="lg">
              <ToText to="/pricing" c="dimmed" py={10} underline="hover">
                Pricing
              </ToText>
              {signedIn ? (
                <ToText to="/dashboard" c="dimmed" py={10} underline="hover">
                  Dashboard
                </ToText>
              ) : (
                <>
                  <ToText to="/register" c="dimmed" py={10} underline="hover">
                    Create an account
                  </ToText>
                  <ToText to="/login" c="dimmed" py={10} underline="hover">
                    Sign in
                  </ToText>
                </>
              )}
            </Group>
          </Group>
        </Container>
      </footer>
    </Box>
  )
}
