import type { FastifyRequest } from 'fastify'
import { readLocale } from '#platform/http/request-locale.ts'
import { isLocale, type Locale, type Messages } from '#platform/locale.ts'
import type { Problem } from '#platform/problem.ts'
import { describeProblem as describe } from '#platform/problem-text.ts'
import { de as buyerDe } from './buyer.de.ts'
import { en as buyerEn } from './buyer.en.ts'
import { de as purchasesDe } from './purchases.de.ts'
import { en as purchasesEn } from './purchases.en.ts'
import { de as shopDe } from './shop.de.ts'
import { en as shopEn } from './shop.en.ts'

export type PageMessages = { locale: Locale } & typeof shopEn & typeof buyerEn & typeof purchasesEn

const MESSAGES: Messages<PageMessages> = {
  en: { locale: 'en', ...shopEn, ...buyerEn, ...purchasesEn },
  de: { locale: 'de', ...shopDe, ...buyerDe, ...purchasesDe },
}

export const getPageMessages = (locale: Locale): PageMessages => MESSAGES[locale]

/**
 * Returns the texts in the language of the visitor: that of the address (`?lang=de`), of their
 * account, of the choice that the browser keeps, or of the browser.
 */
export function readMessages(
  request: FastifyRequest,
  caller: { locale: Locale | null } | null,
  brand: { language: Locale },
): PageMessages {
  const { lang } = request.query as { lang?: unknown }
  if (isLocale(lang)) return MESSAGES[lang]
  return MESSAGES[caller?.locale ?? readLocale(request) ?? brand.language]
}

/** Returns the sentence of a problem, with a full stop. */
export const describeProblem = ({ locale }: PageMessages, problem: Problem): string =>
  describe(problem, locale)
