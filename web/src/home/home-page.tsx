import { Container } from '@mantine/core'
import { BRAND } from '../components/brand.ts'
import { useTitle } from '../components/title.ts'
import { Features } from './features.tsx'
import { Hero } from './hero.tsx'
import { PlansTeaser } from './plans-teaser.tsx'
import { Steps } from './steps.tsx'

export function HomePage() {
  useTitle(BRAND)
  return (
    <>
      <Hero />
      <Container size={1160}>
        <Features />
        <Steps />
        <PlansTeaser />
      </Container>
    </>
  )
}
