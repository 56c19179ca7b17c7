import { type ComponentType, createContext, createElement, useContext, useMemo } from 'react'
import { type Locale, type Messages, type Translate, translator } from '../../i18n/index.ts'

interface IslandProps {
  locale: Locale
  /** From `islandMessages()` of the page. */
  messages: Messages
}

const TranslationContext = createContext<{ locale: Locale; t: Translate } | undefined>(undefined)

export function useTranslation(): { locale: Locale; t: Translate } {
  const translation = useContext(TranslationContext)
  if (!translation) throw new Error('Translations are only known inside of `withTranslation`')
  return translation
}

/** Provides `locale` and `messages` to all components inside. */
export function withTranslation<Props extends object>(
  Screen: ComponentType<Props>
): ComponentType<Props & IslandProps> {
  return function Island(props: Props & IslandProps) {
    const { locale, messages } = props
    const value = useMemo(() => ({ locale, t: translator(locale, messages) }), [locale, messages])
    return createElement(TranslationContext, { value }, createElement(Screen, props))
  }
}
