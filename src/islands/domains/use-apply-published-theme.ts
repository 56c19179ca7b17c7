import { useEffect, useRef } from 'react'
import type { DomainThemes, Theme } from '../../contract/domains.ts'
import { themeCss } from '../../core/theme/theme-colors.ts'
import { svgDataUrl } from './svg-data-url.ts'

/**
 * Shows a published theme on the open page, if it is on `host`. Later pages get it from the server.
 */
export function useApplyPublishedTheme(host: string, { published }: DomainThemes): void {
  const { number, theme } = published
  const seen = useRef(number)
  const sheet = useRef<CSSStyleSheet>(undefined)
  useEffect(() => {
    if (number === seen.current) return
    seen.current = number
    if (host !== location.hostname) return
    if (!sheet.current) {
      // the page's policy allows no inline style but the one that the server has sent
      sheet.current = new CSSStyleSheet()
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet.current]
    }
    sheet.current.replaceSync(themeCss(theme.colors))
    showPictures(theme)
  }, [host, number, theme])
}

function showPictures({ logo, logo_dark, favicon }: Theme): void {
  document.querySelector('link[rel=icon]')?.setAttribute('href', svgDataUrl(favicon))
  const [light, dark] = document.querySelectorAll<HTMLImageElement>('.bar-logo img')
  if (!light) return
  light.src = svgDataUrl(logo)
  light.classList.toggle('in-light', logo_dark !== undefined)
  dark?.remove()
  if (logo_dark === undefined) return
  const other = new Image()
  other.className = 'in-dark'
  other.alt = light.alt
  other.height = light.height
  other.src = svgDataUrl(logo_dark)
  light.after(other)
}
