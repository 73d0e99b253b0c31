import { Box, Container, Group } from '@mantine/core'
import { Link, Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { BRAND, brand } from '../components/brand.ts'
import { BrandLinks } from '../components/brand-links.tsx'
import { ColorScheme } from '../components/color-scheme.tsx'
import { LinkButton, TextLink } from '../components/links.tsx'
import { Wordmark } from '../components/logo.tsx'
import { useHasSession } from '../session/use-session.ts'
import { useMainFocus } from './main-focus.ts'
import classes from './public-layout.module.css'

/** Layout of the public pages. */
export function PublicLayout({ children }: { children?: ReactNode }) {
  const signedIn = useHasSession()
  const main = useMainFocus()

  return (
    <Box className={classes.frame}>
      <header className={classes.header}>
        <Container size={1160} h="100%">
          <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
            <Link to="/" className={classes.home} aria-label={`${BRAND}, home`}>
              <Wordmark />
            </Link>
            <Group component="nav" aria-label="Main" gap={6} wrap="nowrap">
              <LinkButton
                to="/pricing"
                variant="subtle"
                color="gray"
                px="sm"
                className={classes.wide}
              >
                Pricing
              </LinkButton>
              <ColorScheme />
              {signedIn ? (
                <LinkButton to="/home">Open the app</LinkButton>
              ) : (
                <>
                  <LinkButton to="/login" variant="subtle" color="gray" px="sm">
                    Sign in
                  </LinkButton>
                  <LinkButton to="/register" className={classes.wide}>
                    Get started
                  </LinkButton>
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
            <span>
              {BRAND}. {brand.tagline ?? 'One key to your models and your documents.'}
            </span>
            <Group component="nav" aria-label="Footer" gap="lg">
              <TextLink to="/pricing" c="dimmed" py={10} underline="hover">
                Pricing
              </TextLink>
              <TextLink to="/reference" c="dimmed" py={10} underline="hover">
                API reference
              </TextLink>
              <BrandLinks />
              {signedIn ? (
                <TextLink to="/home" c="dimmed" py={10} underline="hover">
                  Open the app
                </TextLink>
              ) : (
                <>
                  <TextLink to="/register" c="dimmed" py={10} underline="hover">
                    Create an account
                  </TextLink>
                  <TextLink to="/login" c="dimmed" py={10} underline="hover">
                    Sign in
                  </TextLink>
                </>
              )}
            </Group>
          </Group>
        </Container>
      </footer>
    </Box>
  )
}
