import { IconBook } from '@tabler/icons-react'
import { brand } from '../components/brand.ts'
import { t } from '../language/text.ts'
import { BUILD } from './build-pages.ts'
import { MenuItems } from './menu-items.tsx'
import classes from './side-menu.module.css'

export function BuildMenu({ onSelect }: { onSelect: () => void }) {
  return (
    <>
      <MenuItems items={BUILD} onSelect={onSelect} />
      <a href={brand.links.docs} className={classes.item} title={t('Docs')}>
        <IconBook size={18} stroke={1.6} aria-hidden />
        <span>{t('Docs')}</span>
      </a>
    </>
  )
}
