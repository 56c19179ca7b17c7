// The package hides its types behind an export map that lacks them.
declare module 'astro-i18next' {
  import type { AstroIntegration } from 'astro'

  export default function astroI18next(): AstroIntegration
  export function localizePath(path: string, locale: string): string
}
