import { Anchor, Box, Container, Group } from '@mantine/core'
import { Link, Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { LINK_LABELS, LINKS } from '../../../src/brand/links.ts'
import { BRAND, brand } from '../components/brand.ts'
import { ColorScheme } from '../components/color-scheme.tsx'
import { LinkButton, TextLink } from '../components/links.tsx'
import { Wordmark } from '../components/logo.tsx'
import { LANGUAGES, type Language, language, switchLanguage } from '../language/language.ts'
import { t } from '../language/text.ts'
import { useHasSession } from '../session/use-session.ts'
import { useMainFocus } from './main-focus.ts'
import classes from './public-layout.module.css'

/** Visitors switch here, users on their account page. */
const others = (Object.keys(LANGUAGES) as Language[]).filter((one) => one !== language)

/** Layout of the public pages. */
export function PublicLayout({ children }: { children?: ReactNode }) {
  const signedIn = useHasSession()
  const main = useMainFocus()

  return (
    <Box className={classes.frame}>
      <header className={classes.header}>
        <Container size={1160} h="100%">
          <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
            <Link to="/" className={classes.home} aria-label={t('{0}, home', BRAND)}>
              <Wordmark />
            </Link>
            <Group component="nav" aria-label={t('Main')} gap={6} wrap="nowrap">
              <LinkButton
                to="/pricing"
                variant="subtle"
                color="gray"
                px="sm"
                className={classes.wide}
              >
                {t('Pricing')}
              </LinkButton>
              <ColorScheme />
              {signedIn ? (
                <LinkButton to="/home">{t('Open the app')}</LinkButton>
              ) : (
                <>
                  <LinkButton to="/login" variant="subtle" color="gray" px="sm">
                    {t('Sign in')}
                  </LinkButton>
                  <LinkButton to="/register" className={classes.wide}>
                    {t('Get started')}
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
              {BRAND}. {brand.tagline ?? t('One key to your models and your documents.')}
            </span>
            <Group component="nav" aria-label={t('Footer')} gap="lg">
              <TextLink to="/pricing" c="dimmed" py={10} underline="hover">
                {t('Pricing')}
              </TextLink>
              <TextLink to="/reference" c="dimmed" py={10} underline="hover">
                {t('API reference')}
              </TextLink>
              <BrandLinks />
              {signedIn ? (
                <TextLink to="/home" c="dimmed" py={10} underline="hover">
                  {t('Open the app')}
                </TextLink>
              ) : (
                <>
                  <TextLink to="/register" c="dimmed" py={10} underline="hover">
                    {t('Create an account')}
                  </TextLink>
                  <TextLink to="/login" c="dimmed" py={10} underline="hover">
                    {t('Sign in')}
                  </TextLink>
                  {others.map((other) => (
                    <Anchor
                      key={other}
                      component="button"
                      lang={other}
                      onClick={() => switchLanguage(other)}
                      c="dimmed"
                      py={10}
                      underline="hover"
                    >
                      {LANGUAGES[other]}
                    </Anchor>
                  ))}
                </>
              )}
            </Group>
          </Group>
        </Container>
      </footer>
    </Box>
  )
}

/** The operator's own pages, for a footer. */
function BrandLinks() {
  return LINKS.map((name) => {
    const url = brand.links[name]
    return (
      url !== undefined && (
        <Anchor key={name} href={url} c="dimmed" py={10} underline="hover">
          {t(LINK_LABELS[name])}
        </Anchor>
      )
    )
  })
}
